import type { ChainState } from '../../../../machines/contracts/chain-state.ts';
import {
  endedBy,
  isByHand,
  isConverged,
  isDetour,
  isLastCycle,
  isMeasured,
  isNextCycle,
  isOver,
  isShown,
  isShownAsMeasured,
  isSpent,
  isSummarised,
  mayRepeat,
} from './chain-facts.ts';
import { type Row, START } from './held-against.ts';

type ChainRow = Row<ChainState>;

const STOPPED = ['remembering', 'answered'];
/** Through the writing of the answer, where a model may. */
const ENDED = ['writing', ...STOPPED];
/** Understanding measures, rates, summarises and asks, each where there is something to do; then comes Yield. */
const ASKING = ['understanding.awaitingConsent', 'yield.assessing'];
const RATED = ['understanding.summarizing', ...ASKING];
const UNMEASURED = ['understanding.evaluating', ...RATED];
const UNDERSTANDING = ['understanding.measuring', ...UNMEASURED];

const PLACES: Readonly<Record<string, readonly string[]>> = {
  action: ['action'],
  experience: ['experience.retrieving'],
  intention: ['intention'],
  observation: ['observation'],
  understanding: UNDERSTANDING,
  yield: ['yield.assessing'],
};
const PHASES = Object.keys(PLACES);
/** The states that each phase is asked in, and the phase that follows. */
const ASKED: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  action: ['action', PLACES['experience'] ?? []],
  'experience.reading': ['experience', PLACES['intention'] ?? []],
  intention: ['intention', PLACES['observation'] ?? []],
  observation: ['observation', UNDERSTANDING],
  'understanding.evaluating': ['understanding', PLACES['yield'] ?? []],
};

const CYCLING = [
  'recalling',
  'action',
  'experience.retrieving',
  'experience.backingOff',
  'experience.reading',
  'intention',
  'observation',
  ...UNDERSTANDING,
  'yield.comparing',
  'yield.awaitingDirection',
];

/** C8, Y9: a phase that failed is done again, once; then it is done without. */
const failing = (from: string, on: RegExp, phase: string, next: readonly string[]): readonly ChainRow[] => [
  { from: [from], on, when: mayRepeat, to: PLACES[phase] ?? [], by: 'Y9' },
  { from: [from], on, to: next, by: 'Y9' },
];

const asked = ([from, [phase, next]]: readonly [string, readonly [string, readonly string[]]]): readonly ChainRow[] => [
  { from: [from], on: /: connection lost$/, to: ENDED, by: 'C4' },
  ...failing(from, /: invalid reply$/, phase, next),
  { from: [from], on: /: (refused|error)$/, to: next, by: 'Y9' },
  ...(phase === 'action'
    ? [
        {
          from: [from],
          on: /^after phaseDeadline$/,
          when: ({ inFlight }: ChainState) => inFlight.loop !== null,
          to: next,
          by: 'R7, C8',
        },
      ]
    : []),
  ...failing(from, /^after phaseDeadline$/, phase, next),
];

/** Any valid reply. */
const VALID_IN_YIELD = /^attempt: (?!connection lost|invalid reply|refused|error)/;

const WRITTEN = /^(attempt|after synthesisDeadline|run\.(cancelled|interrupted))/;

export const CHAIN_TABLE: readonly ChainRow[] = [
  // C8: what is in flight reports to the chain; nothing else changes.
  {
    from: [...CYCLING, 'yield.assessing', 'writing'],
    on: /^(attempt|action): reports /,
    to: ['the same'],
    by: 'C8',
  },

  // Promise 1: from anywhere in the cycles to an answer.
  { from: CYCLING, on: /^run\.(cancelled|interrupted)/, to: STOPPED, by: 'E3, E9' },
  { from: CYCLING, on: /^run\.finished/, to: ENDED, by: 'E3' },
  { from: CYCLING, on: /^after runDeadline/, to: ENDED, by: 'E3, E9' },
  // Y4: the user says where to go on; what is no phase changes nothing.
  { from: ['recalling'], on: /^run\.directed .*(experience)/, to: ['recalling'], by: 'Y4' },
  { from: CYCLING, on: /^run\.directed .*nowhere/, to: ['the same'], by: 'Y4, Y5' },
  { from: CYCLING, on: /^run\.adjusted/, to: ['the same'], by: 'Y4' },
  ...PHASES.map((phase) => ({
    from: ['yield.awaitingDirection'],
    on: new RegExp(`^run\\.directed .*"${phase}"`),
    to: PLACES[phase] ?? [],
    so: isNextCycle,
    by: 'Y4, Y6',
  })),
  { from: CYCLING, on: /^run\.directed .*"experience"/, to: PLACES['experience'] ?? [], by: 'Y4' },
  // Y2: the bounds come before what was said; the last cycle before the last call.
  {
    from: ['yield.assessing'],
    on: VALID_IN_YIELD,
    when: isLastCycle,
    to: ENDED,
    so: endedBy('cycleLimitReached'),
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: VALID_IN_YIELD,
    when: isSpent,
    to: ENDED,
    so: endedBy('budgetExhausted'),
    by: 'Y2, E9',
  },
  // Y2, E9: the budget ends the cycles, whatever a call came to.
  { from: CYCLING, on: /: /, when: isSpent, to: ENDED, by: 'Y2, E9' },

  { from: [START], on: /^(with session, documents and embeddings|a long history)$/, to: ['recalling'], by: 'R4' },
  { from: [START], on: /./, to: ['action'], by: 'C1' },
  {
    from: ['recalling'],
    on: /^(recallSession|after sessionDeadline)/,
    when: isOver,
    to: ['understanding.measuring'],
    by: 'U10: before anything else',
  },
  {
    from: ['recalling'],
    on: /^(recallSession|after sessionDeadline)/,
    to: ['action', 'experience.retrieving'],
    by: 'C4',
  },

  // C1: the order of the phases.
  { from: ['action'], on: /: replied$/, to: ['experience.retrieving'], by: 'C1' },
  { from: ['experience.reading'], on: /: replied$/, to: ['intention'], by: 'C1' },
  { from: ['intention'], on: /: replied$/, to: ['observation'], by: 'C1' },
  { from: ['observation'], on: /: replied$/, when: isMeasured, to: ['understanding.measuring'], by: 'C1, U10' },
  { from: ['observation'], on: /: replied$/, when: isShown, to: ['understanding.evaluating'], by: 'C1, U7' },
  { from: ['observation'], on: /: replied$/, to: RATED, by: 'C1, U10' },
  { from: ['understanding.evaluating'], on: /: replied$/, to: RATED, so: isSummarised, by: 'C1, U5, U7' },

  // C5: an empty search is none that failed, a rate limit backs off, a dead source degrades.
  { from: ['experience.retrieving'], on: /: done$/, to: ['experience.reading'], by: 'C5' },
  {
    from: ['experience.retrieving'],
    on: /: too many requests$/,
    when: ({ sourceRetry, limits }) => (sourceRetry?.retries ?? 0) < limits.maxTransportRetries,
    to: ['experience.backingOff'],
    by: 'C5',
  },
  { from: ['experience.retrieving'], on: /: (too many requests|error)$/, to: ['experience.reading'], by: 'C5' },
  { from: ['experience.backingOff'], on: /^after sourceBackoff$/, to: ['experience.retrieving'], by: 'C5' },
  ...failing('experience.retrieving', /^after phaseDeadline$/, 'experience', ['intention']),
  ...failing('experience.backingOff', /^after phaseDeadline$/, 'experience', ['intention']),

  ...Object.entries(ASKED).flatMap(asked),

  // U: measured or not, rated or not, Understanding goes on; only the user's word is waited for.
  {
    from: ['understanding.awaitingConsent'],
    on: /^(consent\.given|after consentDeadline)/,
    when: isDetour,
    to: ['action', 'experience.retrieving'],
    by: 'U8, U10',
  },
  {
    from: ['understanding.awaitingConsent'],
    on: /^(consent\.given|after consentDeadline)/,
    to: ['yield.assessing'],
    by: 'U8',
  },
  {
    from: ['understanding.measuring'],
    on: /^(measureContext|after phaseDeadline)/,
    when: isDetour,
    to: RATED,
    by: 'U10: no model before it fits',
  },
  {
    from: ['understanding.measuring'],
    on: /: measured$/,
    when: isShownAsMeasured,
    to: ['understanding.evaluating'],
    by: 'U7, U10',
  },
  { from: ['understanding.measuring'], on: /^(measureContext|after phaseDeadline)/, to: UNMEASURED, by: 'U10' },
  { from: ['understanding.summarizing'], on: /^(attempt|after phaseDeadline)/, to: ASKING, by: 'U5' },

  // Y2: when a cycle is the last.
  {
    from: ['yield.assessing'],
    on: /: confident$/,
    to: ['writing'],
    so: endedBy('confidenceReached'),
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: (?!connection lost|invalid reply|refused|error)/,
    when: ({ hasEmbeddings, assessment }) => hasEmbeddings && assessment !== null,
    to: ['yield.comparing'],
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: same answer$/,
    when: isConverged,
    to: ['writing'],
    so: endedBy('answerConverged'),
    by: 'Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: same answer, task complete$/,
    when: isConverged,
    to: ['writing'],
    so: endedBy('answerConverged'),
    by: 'Y2: before the task',
  },
  {
    from: ['yield.assessing'],
    on: /task complete$/,
    to: ['writing'],
    so: endedBy('taskComplete'),
    by: 'Y1, Y2',
  },
  {
    from: ['yield.assessing'],
    on: /: same answer$/,
    when: ({ recursion: { history }, assessment, thresholds }) =>
      history.filter((turn) => turn.target === 'yield' && turn.fingerprint === assessment?.fingerprint).length + 1 >=
      thresholds.loopRepeats,
    to: ['writing'],
    so: endedBy('loopDetected'),
    by: 'Y7',
  },
  {
    from: ['yield.assessing'],
    on: /: (unsure|same answer)/,
    when: isByHand,
    to: ['yield.awaitingDirection'],
    by: 'Y4',
  },
  // Y3, Y4, Y5: where the next one begins.
  {
    from: ['yield.assessing'],
    on: /: (unsure|same answer)/,
    when: ({ hasDocuments }) => hasDocuments,
    to: ['experience.retrieving'],
    by: 'Y3: nothing was found',
  },
  { from: ['yield.assessing'], on: /no proposal$/, to: ['action', ...UNDERSTANDING], by: 'Y3' },
  { from: ['yield.assessing'], on: /an unknown phase$/, to: ['action', ...UNDERSTANDING], by: 'Y5' },
  ...PHASES.map((phase) => ({
    from: ['yield.assessing'],
    on: new RegExp(`proposes ${phase}$`),
    to: [...(PLACES[phase] ?? []), ...UNDERSTANDING],
    by: 'Y4',
  })),
  { from: ['yield.assessing'], on: /: same answer$/, to: ['yield.assessing', ...UNDERSTANDING], by: 'Y4' },
  { from: ['yield.assessing'], on: /: connection lost$/, to: ENDED, by: 'C4' },
  ...failing('yield.assessing', /: invalid reply$/, 'yield', ENDED),
  ...failing('yield.assessing', /^after phaseDeadline$/, 'yield', ENDED),
  { from: ['yield.assessing'], on: /: (refused|error)$/, to: ENDED, by: 'Y9' },
  {
    from: ['yield.comparing'],
    on: /^(compareAnswers|after phaseDeadline)/,
    to: ['writing', ...PHASES.flatMap((phase) => PLACES[phase] ?? [])],
    by: 'Y2',
  },

  // E: the answer cannot fail.
  { from: ['writing'], on: WRITTEN, when: ({ sessionId }) => sessionId !== null, to: ['remembering'], by: 'E4, E7' },
  { from: ['writing'], on: WRITTEN, to: ['answered'], by: 'E4, E7' },
  {
    from: ['remembering'],
    on: /^(appendTurn|after sessionDeadline|run\.(cancelled|interrupted))/,
    to: ['answered'],
    by: 'E7',
  },
];
