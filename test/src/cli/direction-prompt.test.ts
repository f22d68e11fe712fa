import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { lineAnswerer } from '../../../src/cli/ask-user.ts';
import { replies } from '../../../src/testing/replies.ts';
import { entriesOf, type Plan, settle } from '../../support/run-chain.ts';
import { fakeTerminal, startWithTerminal, unsure, waitForText } from '../../support/terminal.ts';

describe('the prompt for the next phase', () => {
  it('[Y4] lists the phases at a terminal and marks the proposed one', async () => {
    const { run, fake, finish } = startWithTerminal(unsure, { mode: 'manual' });
    await waitForText(fake, 'Continue with which phase?');
    const [asked] = entriesOf(run, 'direction-asked');
    expect(fake.shown()).toContain(`  > ${asked?.proposal} (proposed)`);
    const words = ['action', 'experience', 'intention', 'observation', 'understanding', 'yield', 'finish', 'cancel'];
    const from = words.indexOf(asked?.proposal ?? '');
    const steps = (words.indexOf('intention') - from + words.length) % words.length;
    await fake.press(...Array.from({ length: steps }, () => 'down' as const), 'enter');
    await finish();
    expect(fake.shown()).toContain('  Continue with which phase? intention');
    expect(entriesOf(run, 'decision')[0]?.decision).toMatchObject({ rule: 'directedByUser', nextPhase: 'intention' });
  });

  it('[Y4] shows a proposal that is not a phase, and Escape finishes', async () => {
    const odd = { ...replies.yield, confidence: 0.1, taskComplete: false, proposedPhase: 'lunch\u001b[2J' };
    const { run, fake, finish } = startWithTerminal({ yield: odd } as Plan, { mode: 'manual' });
    await waitForText(fake, 'Continue with which phase?');
    expect(fake.written()).not.toContain('\u001b[2J');
    await fake.press('escape');
    await finish();
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.finished']);
  });

  it('[Y4] reads lines without a terminal and accepts the proposal on an empty line', async () => {
    const fake = fakeTerminal();
    const lines = new PassThrough() as unknown as NodeJS.ReadStream;
    const { run, finish } = startWithTerminal(
      unsure,
      { mode: 'manual' },
      ({ out }) => lineAnswerer({ input: lines, out }),
      fake,
    );
    (lines as unknown as PassThrough).end('lunch\n\n');
    await settle();
    await finish();
    expect(entriesOf(run, 'direction-refused')).toMatchObject([{ received: 'lunch' }]);
    expect(entriesOf(run, 'decision')[0]?.decision.rule).toBe('directedByUser');
    expect(fake.written()).toContain('Next phase (action, experience');
  });
});
