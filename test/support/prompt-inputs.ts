import type { Message } from '../../machines/contracts/message.ts';
import { PHASES, type PromptName } from '../../machines/contracts/phase.ts';
import { REQUEST } from '../../machines/policies/context.ts';
import { aDecision, aMessage, results } from './contract-samples.ts';

const request = 'When was the harbor bridge opened?';
const quote = 'The harbor bridge was opened on 19 March 1932.';
const source = { path: 'docs/bridges.md', startLine: 3, endLine: 5 };

const messages: readonly Message[] = [
  aMessage({ id: 'request', role: 'user', phase: null, content: request, tags: [REQUEST] }),
  aMessage({ id: 's1.m1', content: 'In the early thirties, I think.', tags: [] }),
  aMessage({
    id: 'bridges-1',
    role: 'search',
    phase: 'experience',
    content: quote,
    source,
    tags: ['relevant'],
    links: [{ to: 's1.m1', relation: 'contradicts', strength: 0.8 }],
  }),
];

const input = {
  runId: 'sample',
  request,
  prompt: `${request}\nFind what is still missing.`,
  cycle: 2,
  step: 8,
  content: 'The year is known, the day is not.',
  messages,
};

const capability = {
  name: 'calculate',
  description: 'Evaluates an arithmetic expression.',
  arguments: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
  timeoutMs: null,
};

const decision = aDecision();

const progress = {
  maxCycles: 5,
  confidences: [{ phase: 'experience', confidence: 0.6 }],
  decisions: [
    aDecision({
      rule: 'nextPhaseChosen',
      complete: false,
      nextPhase: 'experience',
      rationale: 'continuing with experience: information sufficiency 0.4 is below 0.7',
      inputs: { confidence: 0.5, change: null },
    }),
  ],
  context: {
    ...results.understanding.statistics,
    ...{ tokensBefore: 900, tokensAfter: 400, tokensAllowed: 89_600, estimated: false },
  },
  modelCalls: 7,
  tokens: 5_200,
  corrections: 1,
  failures: ['experience in cycle 1: the search timed out'],
};

const material = {
  request,
  draft: { text: 'On 19 March 1932.', confidence: 0.9, usedMessageIds: ['bridges-1'], notes: '' },
  steps: [{ stepId: 's2', phase: 'experience', content: 'The papers say 1932.' }],
  messages,
  converged: true,
  cycles: 1,
  corrections: 0,
  notes: {
    ending: `confidence: 0.95\nrationale: ${decision.rationale}`,
    plan: 'goal: the day of opening\nalternatives: ["the year of design"]',
    task: 'currentTask: Find what is still missing.\nclarity: 0.9',
    passes: JSON.stringify({ cycle: 1, rule: decision.rule, nextPhase: null, rationale: decision.rationale }),
    validation: 'contradictions: ["one source says 1933"]',
  },
};

const closing = {
  phase: 'yield',
  ...input,
  previousAnswer: 'In 1932.',
  flags: ['unclear_intent'],
  phases: PHASES,
  progress,
};

/** One input per prompt that fills every part of its templates. */
export const promptInputs: Readonly<Record<PromptName, object>> = {
  action: { phase: 'action', ...input, capabilities: [capability] },
  experience: {
    phase: 'experience',
    ...input,
    passages: [{ id: 'bridges-1', text: quote, heading: ['Bridges', 'Sydney'], source, relevance: 0.9 }],
  },
  intention: { phase: 'intention', ...input },
  observation: { phase: 'observation', ...input },
  understanding: { phase: 'understanding', ...input },
  yield: closing,
  brief: { ...closing, replyTo: ['yield'] },
  continuation: {
    request,
    response: 'In the early thirties, I think.',
    steps: [{ capability: 'calculate', arguments: '{"expression":"1932 - 1923"}', success: true, output: '9' }],
    earlier: [{ capability: 'search', runs: 12, failed: 1 }],
    runsLeft: 3,
    capabilities: [capability],
  },
  summary: { request, texts: [{ messageId: 'bridges-1', content: `${quote} ${quote}`, maxChars: 60 }] },
  synthesis: material,
  value: { ...material, schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } },
  grading: {
    request,
    answer: 'On 19 March 1932.',
    rationale: 'The article states the day.',
    claimsCompletion: true,
    evidence: [{ id: 'bridges-1', content: quote }],
    dialogue: [
      { role: 'user', content: 'Tell me about the harbor bridge.' },
      { role: 'assistant', content: 'It is an arch bridge of steel.' },
      { role: 'user', content: request },
    ],
  },
};
