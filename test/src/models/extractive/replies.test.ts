import { describe, expect, it } from 'vitest';
import type { PhaseInput, Replies } from '../../../../machines/contracts/phase-io.ts';
import { replySynthesis, replyTo } from '../../../../src/models/extractive/replies.ts';
import { atOnce } from '../../../support/at-once.ts';
import {
  message,
  passage,
  phaseInput,
  synthesisInput,
  THREE_PHASE_CONTEXT,
} from '../../../support/extractive-inputs.ts';

/** Returns the reply to a phase. */
const replied = <P extends PhaseInput['phase']>(input: Extract<PhaseInput, { phase: P }>): Replies[P] =>
  atOnce(replyTo(input)) as Replies[P];

const ORDER = 'In which order does Yield check its guards?';
const UNKNOWN = 'How do I deploy to Kubernetes?';

describe('the extractive model in Action', () => {
  it('[C4] answers from the search results without a capability call', () => {
    const reply = replied(phaseInput('action', ORDER, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({ response: expect.stringContaining('cycleLimitReached'), calls: [] });
    expect(reply.confidence).toBeGreaterThan(0.7);
  });

  it('[C4] reports that nothing has been retrieved when there is no search result', () => {
    expect(replied(phaseInput('action', ORDER, [message('u', ORDER, { role: 'user' })]))).toEqual({
      response: 'Nothing has been gathered yet.',
      confidence: 0,
      calls: [],
    });
  });
});

describe('the extractive model in Experience', () => {
  const passages = [
    passage('p1', 'A dead source degrades the phase.', ['Experience']),
    passage('p2', 'Nothing of the kind.'),
  ];

  it('[C5] summarizes the passages and names the relevant ones and what is missing', () => {
    const reply = replied(phaseInput('experience', 'What does a dead source in Kubernetes do?', [], passages));
    expect(reply).toMatchObject({
      summary: 'A dead source degrades the phase.',
      relevantPassageIds: ['p1'],
      missing: ['Kubernetes'],
    });
  });

  it('[C5] reports that nothing was retrieved', () => {
    const reply = replied(phaseInput('experience', UNKNOWN, []));
    expect(reply).toMatchObject({ relevantPassageIds: [], missing: ['deploy', 'Kubernetes'], confidence: 0 });
    expect(reply.summary).toContain('No passage answers this question');
  });
});

describe('the extractive model in Intention', () => {
  it('[C6] restates the request and rates the alignment of every message', () => {
    const reply = replied(phaseInput('intention', ORDER, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({ goal: ORDER, alternatives: [], unclearIntent: false });
    expect(reply.alignment).toHaveLength(THREE_PHASE_CONTEXT.length);
    expect(reply.alignment.find(({ messageId }) => messageId === 's1')?.score).toBeGreaterThan(0.7);
    expect(reply.alignment.find(({ messageId }) => messageId === 's2')?.score).toBeLessThan(0.3);
  });

  it('[C6] rates a request without content words unclear, and a specific one clearer than a vague one', () => {
    expect(replied(phaseInput('intention', 'what is it then?', []))).toMatchObject({
      unclearIntent: true,
      clarity: 0,
    });
    const [vague, clear] = ['the guards', ORDER].map(
      (request) => replied(phaseInput('intention', request, [])).clarity,
    );
    expect(clear).toBeGreaterThan(vague ?? 1);
  });

  it('returns the questions in a request as alternatives if there are several', () => {
    const reply = replied(phaseInput('intention', 'What does Yield decide, and in which order?', []));
    expect(reply.alternatives).toEqual(['What does Yield decide', 'in which order?']);
  });
});

describe('the extractive model in Observation', () => {
  it('[C7] connects messages that share rare words and lists recurring names', () => {
    const messages = [
      message('a', 'The turbine valve of Port Mersey froze during inspection.'),
      message('b', 'During the inspection of Port Mersey the turbine valve was replaced.'),
      message('c', 'Bread is baked in the morning.'),
    ];
    const reply = replied(phaseInput('observation', 'What froze at Port Mersey?', messages));
    expect(reply.connections).toMatchObject([{ from: 'a', to: 'b' }]);
    expect(reply.connections[0]?.strength).toBeGreaterThan(0.7);
    expect(reply.entities).toEqual([{ name: 'Port Mersey', messageIds: ['a', 'b'] }]);
    expect(reply.importance.find(({ messageId }) => messageId === 'c')?.score).toBe(0);
  });

  it('[C7] counts a relevant search result as undigested until an answer uses it', () => {
    const answer = message('a1', 'An answer', { role: 'assistant', references: ['s1'] });
    expect(replied(phaseInput('observation', ORDER, THREE_PHASE_CONTEXT)).undigested).toBe(true);
    expect(replied(phaseInput('observation', ORDER, [...THREE_PHASE_CONTEXT, answer])).undigested).toBe(false);
    expect(replied(phaseInput('observation', UNKNOWN, THREE_PHASE_CONTEXT)).undigested).toBe(false);
  });
});

describe('the extractive model in Understanding', () => {
  it('[U1] assesses every assistant and search message, and rates an empty answer irrelevant', () => {
    const empty = replied(phaseInput('action', ORDER, [])).response;
    const messages = [...THREE_PHASE_CONTEXT, message('a1', empty, { role: 'assistant' })];
    const { assessments, integrated } = replied(phaseInput('understanding', ORDER, messages));
    expect(assessments.map(({ messageId }) => messageId)).toEqual(['s1', 's2', 's3', 'a1']);
    expect(assessments[0]?.relevance).toBeGreaterThan(0.8);
    expect(assessments[3]?.relevance).toBe(0);
    expect(integrated).toContain('cycleLimitReached');
  });
});

describe('the extractive model in Yield', () => {
  it('[Y1] reports the task as complete when the answer covers the question', () => {
    const reply = replied(phaseInput('yield', ORDER, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({ taskComplete: true, needsTools: false, proposedPhase: null, usedMessageIds: ['s1'] });
    expect(reply.informationSufficiency).toBeGreaterThan(0.9);
    expect(reply.rationale).toContain('100%');
  });

  it('[Y3] reports insufficient information and proposes Experience when nothing answers', () => {
    const reply = replied(phaseInput('yield', UNKNOWN, THREE_PHASE_CONTEXT));
    expect(reply).toMatchObject({
      taskComplete: false,
      informationSufficiency: 0,
      proposedPhase: 'experience',
      usedMessageIds: [],
    });
    expect(reply.answer).toBe('No passage answers this question: searched for "deploy" and "Kubernetes".');
    expect(reply.confidence).toBeLessThan(0.1);
  });
});

describe('the extractive model in synthesis', () => {
  it('keeps a good draft, cites its sources, and states that it is extractive', () => {
    const draft = replied(phaseInput('yield', ORDER, THREE_PHASE_CONTEXT)).answer;
    const reply = atOnce(replySynthesis(synthesisInput(ORDER, draft, THREE_PHASE_CONTEXT)));
    expect(reply).toMatchObject({ answerText: draft, usedMessageIds: ['s1'] });
    expect(reply.notes).toContain('without a language model');
  });

  it('replaces an empty or worse draft with the best span', () => {
    for (const draft of ['', 'Bread is baked.', replied(phaseInput('yield', UNKNOWN, THREE_PHASE_CONTEXT)).answer]) {
      expect(atOnce(replySynthesis(synthesisInput(ORDER, draft, THREE_PHASE_CONTEXT))).answerText).toContain(
        'cycleLimitReached',
      );
    }
  });

  it('states what was not found', () => {
    const reply = atOnce(replySynthesis(synthesisInput(UNKNOWN, '', THREE_PHASE_CONTEXT)));
    expect(reply.answerText).toContain('No passage answers this question');
    expect(reply.notes).toContain('Not found: "deploy" and "Kubernetes"');
  });
});
