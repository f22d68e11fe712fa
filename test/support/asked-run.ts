import { expect } from 'vitest';
import { terminalAnswerer } from '../../src/cli/ask-user.ts';
import { createQuestions } from '../../src/cli/run-command.ts';
import type { Run } from '../../src/engine/runtime/run.ts';
import type { RunOptions } from '../../src/engine/runtime/run-options.ts';
import { replies } from '../../src/testing/replies.ts';
import { entriesOf, type Plan, startScripted } from './run-chain.ts';
import { type FakeTerminal, fakeTerminal } from './terminal.ts';

export const told = (subject: string): string => `Please look into ${subject}. ${'It is a long story. '.repeat(80)}`;
export const user = (content: string) => ({ role: 'user' as const, content });
/** Two messages that are long. */
export const TWO = [user(told('the cellar')), user(told('the attic'))];
/** A yield that goes on. */
export const unsure: Plan = { yield: { ...replies.yield, confidence: 0.1, taskComplete: false } };

/** A scripted run with someone at a made-up terminal who hears it. */
export function startAsked(
  plan: Plan,
  options: Partial<RunOptions>,
  answererOf = terminalAnswerer,
  fake = fakeTerminal(),
) {
  const { run, clock } = startScripted(plan, { limits: { maxCycles: 2 } }, options);
  const terminal = { ...fake.terminal, interrupt: () => run.cancel('Ctrl-C') };
  const questions = createQuestions(run, answererOf(terminal), terminal.screen);
  const heard = (async () => {
    for await (const event of run.events) questions.onEvent(event);
    questions.close();
  })();
  const finish = async () => {
    const answer = await run.answer;
    await heard;
    return answer;
  };
  return { run, clock, fake, finish };
}

export const seen = (fake: FakeTerminal, text: string): Promise<void> =>
  expect.poll(() => fake.shown().join('\n')).toContain(text);

export const resolved = (run: Run) => entriesOf(run, 'consent-resolved');
/** What became of messages by consent. */
export const fates = (run: Run) =>
  entriesOf(run, 'operations')
    .flatMap(({ applied }) => applied)
    .filter(({ metadata }) => metadata['consent'] !== undefined)
    .map(({ target, operation }) => `${operation} ${target}`);
