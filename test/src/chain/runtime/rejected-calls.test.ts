import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies, scriptedModel } from '../../../../src/entries/testing.ts';

const turn = (at: number) =>
  ({
    role: 'assistant',
    content: `Turn ${at}: ${`the council of town ${at} met about bridge ${at}. `.repeat(30)}`,
  }) as const;
const history = Array.from({ length: 20 }, (_, at) => turn(at));
const replyOf = (task: string) => replies[task as keyof typeof replies];
describe('a call rejected before any output', () => {
  it('[C4] makes the final answer fall back to the next model', async () => {
    const failing = scriptedModel(({ task }) =>
      task === 'synthesis' ? { failure: { code: 'bad_gateway', retryable: false, status: 502 } } : replyOf(task),
    );
    const next = scriptedModel(({ task }) => replyOf(task), { id: 'next' });
    const chain = createPostChain({
      model: failing,
      fallbackModels: [next],
      limits: { maxCycles: 1 },
    });
    const { metadata } = await chain.run({ request: 'How long is the bridge?', history }).answer;
    expect(metadata.synthesis).toMatchObject({ writtenBy: 'model' });
  });

  it('[A11] costs nothing if the server was never reached', async () => {
    const model = scriptedModel(() => ({ failure: { code: 'connection_failed', retryable: false } }), { id: 'a' });
    const prices = { currency: 'EUR', models: { a: { inputPerMillion: 1_000_000, outputPerMillion: 1 } } };
    const { metadata } = await createPostChain({ model, prices }).run({ request: 'Is it so?' }).answer;
    expect(metadata.cost).toEqual({ amount: 0, currency: 'EUR', byTask: {}, savedByCache: 0 });
  });
});
