import type { Message } from '../../machines/contracts/message.ts';
import type { Passage } from '../../machines/contracts/passage.ts';
import type { PhaseInput } from '../../machines/contracts/phase-io.ts';
import { aMessage, aPassage } from './contract-samples.ts';

const SOURCE = { path: 'a.md', startLine: 1, endLine: 1 };

/** A message with only what a test is about; by default a passage, with its headings as the first line of several. */
export const message = (id: string, content: string, more: Partial<Message> = {}): Message =>
  aMessage({ id, role: 'search', phase: null, content, createdAtMs: 0, tags: [], source: SOURCE, ...more });

/** A retrieved passage with only what a test is about. */
export const passage = (id: string, text: string, heading: readonly string[] = []): Passage =>
  aPassage({ id, text, heading, source: { path: `${id}.md`, startLine: 1, endLine: 1 }, relevance: 0.5 });

/** The input of a phase in the first cycle. */
export function phaseInput<P extends PhaseInput['phase']>(
  phase: P,
  request: string,
  messages: readonly Message[],
  passages: readonly Passage[] = [],
): Extract<PhaseInput, { phase: P }> {
  const common = { runId: 'run', request, prompt: request, cycle: 1, step: 1, content: '', messages };
  const progress = {
    maxCycles: 5,
    confidences: [],
    decisions: [],
    context: null,
    modelCalls: 0,
    tokens: 0,
    corrections: 0,
    failures: [],
  };
  const own = { capabilities: [], passages, previousAnswer: '', flags: [], phases: ['action'], progress };
  return { phase, ...common, ...own } as unknown as Extract<PhaseInput, { phase: P }>;
}

/** A small context about three phases, as the chain builds it: headings in the first line. */
export const THREE_PHASE_CONTEXT: readonly Message[] = [
  message('u1', 'In which order does Yield check its guards?', { role: 'user' }),
  message(
    's1',
    'Yield > Order\nYield checks these guards in order:\n1. `cycleLimitReached`\n2. `budgetExhausted`\n3. `confidenceReached`',
  ),
  message('s2', 'Experience\nExperience retrieves passages. A dead source degrades the phase.'),
  message('s3', 'Consent\nUser messages are kept by default. A message longer than 1,000 characters asks consent.'),
];
