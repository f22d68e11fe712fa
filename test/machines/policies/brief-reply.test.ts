import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import {
  type BriefReply,
  briefReplySchema,
  type PhaseInput,
  replySchemas,
} from '../../../machines/contracts/phase-io.ts';
import { expandReply, idsOf } from '../../../machines/policies/brief-reply.ts';
import { areValid, briefReply } from '../../../src/models/brief-reply.ts';
import { message } from '../../support/extractive-inputs.ts';

const passage = (id: string) => ({ id, text: `About ${id}.`, heading: [], source: { path: 'a.md' }, relevance: 0.5 });

/** The request, two messages, one of them a passage that is found again, and two new passages: numbers 1 to 4. */
const input: PhaseInput = {
  phase: 'experience',
  runId: 'r',
  request: 'Is it open?',
  prompt: 'Is it open?',
  cycle: 1,
  step: 2,
  content: '',
  messages: [
    message('request', 'Is it open?', { role: 'user', tags: ['request'] }),
    message('m1', 'Perhaps.'),
    message('p1', 'About p1.'),
  ],
  passages: [passage('p1'), passage('p2'), passage('p3')],
};

const reply: BriefReply = {
  answer: 'It is open.',
  used: [2, 3],
  confidence: 0.9,
  enough: 0.8,
  done: true,
  next: null,
  except: [],
};

const kinds = ['irrelevant', 'important', 'missing', 'unclear', 'insight', 'nothing_found', 'doubt'] as const;
const replyWith = fc.record({
  answer: fc.string(),
  used: fc.array(fc.oneof(fc.integer({ min: -2, max: 9 }), fc.double({ noNaN: true }))),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  enough: fc.double({ min: 0, max: 1, noNaN: true }),
  done: fc.boolean(),
  next: fc.constantFrom(null, 'nowhere', ...PHASES),
  except: fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      of: fc.oneof(fc.constant(null), fc.integer({ min: -2, max: 9 })),
      text: fc.string(),
    }),
  ),
});
const groups = fc.subarray([...PHASES].filter((phase) => phase !== 'action')).filter((group) => group.length > 0);

describe('a brief reply', () => {
  it('without exceptions means that all passages are relevant, the request is clear, and nothing is missing', () => {
    expect(expandReply(reply, PHASES.slice(1), input)).toEqual({
      experience: { summary: '', relevantPassageIds: ['p1', 'p2', 'p3'], missing: [], confidence: 0.9 },
      intention: { goal: '', alternatives: [], clarity: 1, unclearIntent: false, alignment: [] },
      observation: { insights: [], undigested: false, entities: [], connections: [], importance: [] },
      understanding: { integrated: '', assessments: [] },
      yield: {
        answer: 'It is open.',
        confidence: 0.9,
        taskComplete: true,
        informationSufficiency: 0.8,
        needsTools: false,
        proposedPhase: null,
        rationale: '',
        usedMessageIds: ['p1', 'p2'],
        noEvidence: false,
        notes: '',
      },
    });
  });

  it.each([
    [
      'irrelevant',
      3,
      'is about parking',
      (parts: ReturnType<typeof expandReply>) => [
        parts.experience?.relevantPassageIds,
        parts.intention?.alignment,
        parts.understanding?.assessments,
      ],
      [
        ['p1', 'p3'],
        [{ messageId: 'p2', score: 0.1 }],
        [{ messageId: 'p2', relevance: 0.1, reason: 'is about parking' }],
      ],
    ],
    ['important', 1, '', (parts) => parts.observation?.importance, [{ messageId: 'm1', score: 0.9 }]],
    ['missing', null, 'the holidays', (parts) => parts.experience?.missing, ['the holidays']],
    [
      'unclear',
      null,
      'the café or the library?',
      (parts) => [parts.intention?.unclearIntent, parts.intention?.clarity, parts.intention?.alternatives],
      [true, 0.3, ['the café or the library?']],
    ],
    ['insight', null, 'it opens at nine', (parts) => parts.observation?.insights, ['it opens at nine']],
    ['nothing_found', null, '', (parts) => parts.yield?.noEvidence, true],
    ['doubt', null, 'the page is old', (parts) => parts.yield?.notes, 'the page is old'],
  ] as const satisfies readonly (readonly [
    BriefReply['except'][number]['kind'],
    number | null,
    string,
    (parts: ReturnType<typeof expandReply>) => unknown,
    unknown,
  ])[])('reports %s', (kind, of, text, read, expected) => {
    expect(read(expandReply({ ...reply, except: [{ kind, of, text }] }, PHASES.slice(1), input))).toEqual(expected);
  });

  it.each([[0], [-1], [1.5], [5]])('ignores the number %d, which no material has', (number) => {
    const parts = expandReply({ ...reply, used: [number] }, ['yield'], input);
    expect(parts.yield?.usedMessageIds).toEqual([]);
  });

  it('may leave out what has a usual value', () => {
    expect(briefReplySchema.parse({ answer: 'Yes.', confidence: 1, enough: 1, except: [{ kind: 'doubt' }] })).toEqual({
      answer: 'Yes.',
      used: [],
      confidence: 1,
      enough: 1,
      done: false,
      next: null,
      except: [{ kind: 'doubt', of: null, text: '' }],
    });
  });

  it('has the text of the last of Experience, Understanding and Yield that it is for', () => {
    const textOf = (phases: readonly Phase[]) => {
      const parts = expandReply(reply, phases, input);
      return [parts.experience?.summary, parts.understanding?.integrated, parts.yield?.answer];
    };
    expect(textOf(['experience', 'intention'])).toEqual(['It is open.', undefined, undefined]);
    expect(textOf(['experience', 'understanding'])).toEqual(['', 'It is open.', undefined]);
    expect(textOf(['experience', 'understanding', 'yield'])).toEqual(['', '', 'It is open.']);
  });

  it('gives a valid reply to each phase, whatever it contains, and names no message that the prompt did not show', () => {
    fc.assert(
      fc.property(replyWith, groups, (given, phases) => {
        expect(briefReplySchema.safeParse(given).success).toBe(true);
        const parts = expandReply(given, phases, input);
        expect(Object.keys(parts)).toEqual(phases);
        for (const [phase, part] of Object.entries(parts))
          expect(replySchemas[phase as Phase].safeParse(part).success, phase).toBe(true);
        const named = [
          ...(parts.yield?.usedMessageIds ?? []),
          ...(parts.understanding?.assessments ?? []).map(({ messageId }) => messageId),
        ];
        expect(idsOf(input)).toEqual(expect.arrayContaining([...new Set(named)]));
      }),
    );
  });

  it('stands for the replies that it was made from, except for ratings between its limits', () => {
    fc.assert(
      fc.property(replyWith, (given) => {
        const parts = expandReply(given, PHASES.slice(1), input);
        expect(areValid(parts)).toBe(true);
        const again = expandReply(briefReply(parts, input), PHASES.slice(1), input);
        expect(again.yield).toEqual(parts.yield);
        expect(again.experience).toEqual(parts.experience);
        expect(again.observation).toEqual(parts.observation);
      }),
    );
  });
});
