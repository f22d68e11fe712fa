import { type ChatModel, createStructuredOutput, failureOf } from 'postchain';
import * as z from 'zod';

// Stand-in for a provider's client: one call that streams text.
async function* streamText(prompt: string): AsyncGenerator<string> {
  yield '{"shout":"';
  yield `${prompt.toUpperCase()}"}`;
}

const echo: ChatModel = {
  id: 'echo',
  contextWindowTokens: 8_000,
  async *stream({ turns }, { signal }) {
    try {
      for await (const text of streamText(turns.at(-1)?.content ?? '')) {
        if (signal.aborted) return;
        yield { type: 'text-delta', text };
      }
      yield { type: 'finish', reason: 'stop', usage: null };
    } catch (error) {
      yield { type: 'failure', failure: failureOf('transport', 'echo_failed', String(error)) };
    }
  },
};

const schema = z.object({ shout: z.string() });
console.log(await createStructuredOutput({ model: echo, schema, prompt: 'hello' }).value);
