import { fromCallback } from 'xstate';
import type { ReadReplyEvent, ReadReplyInput } from '../../machines/attempt/ports.ts';
import type { ChatModel, ModelRequest } from '../../machines/contracts/model.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';
import { outputSchema, type Prompt, renderPrompt } from '../prompts/prompt.ts';
import { readStream } from '../streaming/read-stream.ts';
import type { Clock } from './clock.ts';
import type { PartialUpdate, Watcher } from './watcher.ts';

export interface ReadReplyParts {
  readonly model: ChatModel;
  readonly prompts: Readonly<Record<Task, Prompt>>;
  readonly clock: Clock;
  readonly watcher: Watcher;
}

/** The count of characters is told again when it has grown by a quarter since, from here on. */
const MIN_TOLD_CHARS = 800;

/** Renders the prompt, calls the model once and reads its stream: the `readReply` port of the attempt machine [A2]. */
export function createReadReply({ model, prompts, clock, watcher }: ReadReplyParts) {
  return fromCallback<ReadReplyEvent, ReadReplyInput>(({ input: call, sendBack }) => {
    const controller = new AbortController();
    const { attemptId, task, attempt, policy } = call;
    const openedAtMs = clock.now();
    let over = false;
    let stop = (): void => {};
    const tell = (event: ReadReplyEvent): void => {
      if (over) return;
      over = event.type === 'reply.ended';
      sendBack(event);
    };

    async function read(): Promise<void> {
      const request = renderRequest(prompts[task], call);
      const heartbeatMs = policy.chunkMs / 8;
      const promptChars = request.turns.reduce((sum, turn) => sum + turn.content.length, 0);
      let seenAtMs: number | null = null;
      let chars = 0;
      let toldChars = MIN_TOLD_CHARS;
      const reply = await readStream(() => model.stream(request, { signal: controller.signal }), {
        maxChars: policy.maxReplyChars,
        onStoppable: (given) => {
          stop = given;
        },
        promptChars,
        onText: (text) => {
          if (over) return;
          const atMs = clock.now();
          chars += text.length;
          if (seenAtMs === null || atMs - seenAtMs >= heartbeatMs || chars >= toldChars * 1.25) {
            tell({ type: seenAtMs === null ? 'reply.started' : 'reply.progressed', openedAtMs, atMs, chars });
            seenAtMs = atMs;
            toldChars = Math.max(MIN_TOLD_CHARS, chars);
          }
          watcher.record({ type: 'text-delta', attemptId, text });
        },
        onPartial: (value) => {
          if (!over) watcher.partial({ type: 'partial', attemptId, task, attempt, value } as PartialUpdate);
        },
      });
      tell({ type: 'reply.ended', openedAtMs, atMs: clock.now(), chars, reply });
    }

    read().catch((error: unknown) =>
      tell({ type: 'reply.ended', openedAtMs, atMs: clock.now(), chars: 0, reply: thrown(error) }),
    );
    return () => {
      // A call that has ended needs no abort, and an abort makes an error with its stack.
      if (!over) {
        controller.abort();
        stop();
      }
      over = true;
    };
  });
}

function renderRequest(prompt: Prompt, { task, input, feedback }: ReadReplyInput): ModelRequest {
  const checked = prompt.input.safeParse(input);
  if (!checked.success) throw new TypeError(`The input of "${task}" does not fit: ${checked.error.message}`);
  const turns = renderPrompt(prompt, input, feedback);
  return { task, turns, schemaName: `${task}_reply`, outputSchema: outputSchema(prompt), input };
}

/** A prompt or a watcher that throws is a bug: the run goes on to an answer all the same. */
function thrown(error: unknown) {
  const { message } = unexpectedFailure(error);
  return {
    text: '',
    value: null,
    failure: failureOf('unexpected', 'prompt_failed', message, { retryable: false }),
    usage: { inputTokens: 0, outputTokens: 0, estimated: true },
  };
}
