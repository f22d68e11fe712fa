import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { phaseFinding } from '../../../../src/chain/journal/phase-finding.ts';
import { replies } from '../../../../src/testing/replies.ts';

describe('what a phase found', () => {
  const brief = {
    ...replies.brief,
    except: [
      { kind: 'irrelevant', of: 2, text: 'is about parking' },
      { kind: 'missing', of: null, text: 'the holidays' },
      { kind: 'unclear', of: null, text: '' },
      { kind: 'insight', of: null, text: 'it opens at nine' },
    ],
  };

  it.each([
    [replies.brief, ['all passages relevant, confidence 0.95', 'request is clear', '0 insights', 'nothing irrelevant']],
    [brief, ['1 irrelevant, 1 missing, confidence 0.95', 'request is unclear', '1 insight', '1 irrelevant']],
  ])('is in a brief reply, for each phase', (reply, findings) => {
    expect(PHASES.slice(1).map((phase) => phaseFinding(phase, reply))).toEqual([
      ...findings,
      'answer, confidence 0.95',
    ]);
  });

  it.each([[null], ['x'], [{ enough: 1 }]])('is empty for %j, which is not a reply', (reply) => {
    expect(PHASES.map((phase) => phaseFinding(phase, reply))).toEqual(PHASES.map(() => ''));
  });
});
