import type { Failure } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Transition } from './explain-transition.ts';
import { guardInWords, namedInWords } from './guard-words.ts';
import { grouped, rounded } from './number-words.ts';
import { type SeenNumber, seenNumbers } from './verdict-numbers.ts';

/** One thing that is known: in the inspector's words, or, where `said`, in those of a model, a document or a user. */
export interface WhyFact {
  readonly label: string;
  readonly text: string;
  readonly said?: boolean;
}

/** What is to be explained of an entry that is no transition, and which transition goes with it. */
export interface Explained {
  readonly heading: string;
  readonly facts: readonly WhyFact[];
  readonly saw: readonly SeenNumber[];
  readonly isMade: (by: Transition) => boolean;
}

const told = (heading: string, facts: readonly WhyFact[], isMade: Explained['isMade']): Explained => ({
  ...{ heading, facts, isMade },
  saw: [],
});

const endsIn =
  (...names: readonly string[]) =>
  ({ source }: Transition): boolean =>
    names.some((name) => source === name || source.endsWith(`.${name}`));

const goesTo =
  (name: string) =>
  ({ target }: Transition): boolean =>
    target.some((id) => id === name || id.endsWith(`.${name}`));

function failureFacts({ stage, code, message, status, issues }: Failure): readonly WhyFact[] {
  const shown = issues.slice(0, MOST_ISSUES).map(({ path, message: says }) => `${path || 'the whole'}: ${says}`);
  if (issues.length > MOST_ISSUES) shown.push(`and ${issues.length - MOST_ISSUES} more`);
  return [
    { label: 'Failed at', text: `${stage}, ${code}${status === null ? '' : `, status ${status}`}` },
    { label: 'Message', text: message, said: true },
    ...(shown.length > 0 ? [{ label: 'Where', text: shown.join('\n'), said: true }] : []),
  ];
}

const MOST_ISSUES = 8;

const RECOVERIES = {
  again: (phase: string) => `Why is ${phase} tried again?`,
  skip: (phase: string) => `Why does it go on without ${phase}?`,
  finish: () => 'Why does it go straight to the answer?',
} as const;

/** What there is to say of an entry; null for those of which a transition says it all. */
export function explain(entry: JournalEntry): Explained | null {
  switch (entry.type) {
    case 'decision': {
      const { rule, complete, nextPhase, rationale, inputs, cycle } = entry.decision;
      const ruled = (name: string): boolean =>
        name === rule || (rule === 'nextPhaseChosen' && name.startsWith('nextPhaseIs')) || rule === 'directedByUser';
      return {
        heading: complete
          ? 'Why did it decide to answer?'
          : `Why did it decide to go on with ${nextPhase ?? 'action'}?`,
        facts: [
          { label: 'Rule', text: `${guardInWords(rule)}, in cycle ${cycle}` },
          { label: 'Rationale', text: rationale, said: true },
        ],
        saw: seenNumbers(inputs),
        isMade: (by) =>
          endsIn('deciding', 'awaitingDirection')(by) &&
          by.candidates.some(({ guard, verdict }) => verdict === 'taken' && guard !== null && ruled(guard)),
      };
    }
    case 'phase-end':
      if (entry.failure === null) return null;
      return told(`Why did ${entry.phase} fail?`, failureFacts(entry.failure), endsIn('recovering'));
    case 'recovery':
      return told(RECOVERIES[entry.how](entry.phase), failureFacts(entry.failure), endsIn('recovering'));
    case 'attempt-end':
      if (entry.failure === null) return null;
      return told(
        `Why did attempt ${entry.attempt} at ${entry.task} fail?`,
        failureFacts(entry.failure),
        endsIn('recordingFailure'),
      );
    case 'attempt-retry': {
      const model = entry.model === 0 ? 'the first model' : `fallback ${entry.model}`;
      const wait = entry.inMs === 0 ? 'at once' : `after a wait of ${grouped(entry.inMs)} ms`;
      const next = { label: 'Next', text: `attempt ${entry.attempt}, ${model}, ${wait}` };
      return told('Why is the model asked again?', [next], endsIn('recordingFailure'));
    }
    case 'consent-asked': {
      const { items } = entry.request;
      const shown = items.slice(0, 3).map(({ messageId, preview }) => `${messageId}: ${preview}`);
      const about = { label: `Messages (${items.length})`, text: shown.join('\n'), said: true };
      return told('Why does it ask for consent?', [about], goesTo('awaitingConsent'));
    }
    case 'consent-resolved': {
      const { kept, summarised, removed, by } = entry;
      const what = { label: 'Messages', text: `${kept} kept, ${summarised} summarised, ${removed} removed` };
      return told('What came of asking for consent?', [what, { label: 'By', text: by }], endsIn('awaitingConsent'));
    }
    case 'direction-asked':
      return told(
        'Why does it wait for a direction?',
        [
          { label: 'It proposes', text: entry.proposal, said: true },
          { label: 'Answer so far', text: entry.answer, said: true },
          { label: 'Confidence', text: rounded(entry.confidence) },
        ],
        goesTo('awaitingDirection'),
      );
    case 'capability-stop': {
      const { reason, runs, failed, code, problem } = entry;
      const facts: WhyFact[] = [
        { label: 'Reason', text: namedInWords(reason).replaceAll('_', ' ') },
        { label: 'Runs', text: `${runs}, of which ${failed} failed` },
      ];
      if (problem !== null)
        facts.push({ label: 'Problem', text: [code, problem].filter(Boolean).join(': '), said: true });
      return told('Why did the capability loop end?', facts, goesTo('concluded'));
    }
    default:
      return null;
  }
}
