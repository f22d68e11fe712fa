import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import type { RunEvent } from '../../../../src/chain/runtime/run-events.ts';
import { entriesOf, type JournalStore } from '../../../../src/durable/journals/journal-store.ts';
import { createPostChain, memorySessions } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { JOURNAL_STORES } from '../../../support/journal-files.ts';
import { capabilityNamed } from '../../../support/run-chain.ts';

/** The call during which the first process loses its lease. */
const moments: readonly (readonly [string, string, string | undefined])[] = [
  ['runs a capability', 'pay', 'chat'],
  ['waits for the reply of Yield', 'yield', 'chat'],
  ['waits for the reply with which the run ends', 'synthesis', undefined],
];

function signalOf() {
  let send = (): void => {};
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  return { sent, send: () => send() };
}

/** Two processes with the same stores. The call `held` of the first one ends when `release` is called. */
function twoProcesses(journals: JournalStore, held: string) {
  const sessions = memorySessions();
  const made: string[] = [];
  const gate = signalOf();
  const reached = signalOf();
  const enter = async (who: string, call: string): Promise<void> => {
    made.push(`${call} by ${who}`);
    if (who !== 'A' || call !== held) return;
    reached.send();
    await gate.sent;
  };
  const chainOf = (who: string) => {
    const calls = [{ capability: 'pay', arguments: '{}' }];
    const scripted = scriptedModel(
      {},
      {
        otherwise: {
          ...replies,
          action: { ...replies.action, calls },
          synthesis: { ...replies.synthesis, answerText: `It is by ${who}.` },
        },
      },
    );
    const model: ChatModel = {
      ...scripted,
      async *stream(request, signal) {
        await enter(who, String(request.task));
        yield* scripted.stream(request, signal);
      },
    };
    const pay = capabilityNamed('pay', async () => {
      await enter(who, 'pay');
      return `paid by ${who}`;
    });
    return createPostChain({
      journals,
      sessions,
      model,
      capabilities: [pay],
      profile: 'thorough',
      newId: () => 'run-1',
    });
  };
  return { chainOf, sessions, made, reached: reached.sent, release: gate.send };
}

describe.each(JOURNAL_STORES)('a process that lost its lease, with journals in %s', (_, create) => {
  it.each(moments)('writes nothing if it loses the lease while it %s', async (_, held, sessionId) => {
    const journals = create();
    const { chainOf, sessions, made, reached, release } = twoProcesses(journals, held);
    const run = chainOf('A').run({ request: 'Is it so?', ...(sessionId && { sessionId }) });
    const events: RunEvent[] = [];
    const read = (async () => {
      for await (const event of run.events) events.push(event);
    })();
    await reached;

    const other = await chainOf('B').resume('run-1', { force: true });
    const { answerText, reasons } = await other.answer;
    expect(answerText).toBe('It is by B.');
    expect(reasons.map(({ code }) => code)).not.toContain('interrupted');
    const stored = await entriesOf(journals.read('run-1'));
    expect(stored.at(-1)?.type).toBe('end');
    const madeByA = made.filter((call) => call.endsWith('by A'));

    release();
    const answer = await run.answer;
    await read;
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'interrupted' } });
    expect(run.journalFailure).toMatch(/run-1/);
    const lastVoid = events.findLastIndex(({ type }) => type === 'answer-void');
    const texts = events.slice(lastVoid + 1).flatMap((event) => (event.type === 'answer-delta' ? [event.text] : []));
    expect(texts.join('')).toBe(answer.answerText);
    for (const seen of [events, run.entries])
      expect(seen.filter(({ type }) => ['answer', 'end', 'session-stored'].includes(type))).toEqual([]);
    expect(await entriesOf(journals.read('run-1'))).toEqual(stored);
    expect(made.filter((call) => call.endsWith('by A'))).toEqual(madeByA);
    const turns = await sessions.recall('chat', { turns: 5, signal: new AbortController().signal });
    expect(turns.map((turn) => turn.answer)).toEqual(sessionId ? ['It is by B.'] : []);
  });
});
