import type { RunCharts } from '../../src/inspection/wire.ts';
import { explainEvent } from './explain-event.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo } from './sorted.ts';
import { isStimulus } from './stimuli.ts';
import { type StimulusOutcome, stimulusOutcome } from './stimulus-outcome.ts';
import type { WhyView } from './why.ts';

export interface IgnoredEvent {
  readonly seq: number;
  readonly name: string;
  readonly why: string;
}

/** Of what came, this many of the newest that led to no transition are looked at. */
const LOOKED_AT = 60;

/** The events up to an entry that came to nothing, the newest first; `more`: there are earlier ones, which were not looked at. */
export function ignoredEvents(view: WhyView): { readonly events: readonly IgnoredEvent[]; readonly more: boolean } {
  const { log, fold, charts, at, end, run } = view;
  const { quiet, seqs } = fold.stimuli;
  const known = { fold, charts, ended: end !== null || !run.live };
  const count = countUpTo(quiet, at);
  const newest = seqs.at(-1);
  const candidates = quiet.slice(Math.max(0, count - LOOKED_AT), count).reverse();
  if (newest !== undefined && newest <= at && !candidates.includes(newest)) candidates.unshift(newest);
  const settled = settledOf(view);
  const events = candidates.flatMap((seq) => {
    const told = settled.get(seq);
    if (told !== undefined) return told;
    const entry = log.entry(seq);
    if (!isStimulus(entry)) return [];
    const said = WHY[stimulusOutcome(entry, known).kind];
    const event = said === undefined ? [] : [{ seq, name: explainEvent(entry, fold.spans).name, why: said }];
    if (seq !== newest) settled.set(seq, event);
    return event;
  });
  return { events, more: count > LOOKED_AT };
}

type Settled = Map<number, readonly IgnoredEvent[]>;
const bySituation = new WeakMap<RunFold, { readonly charts: RunCharts | null; readonly settled: Settled }>();

/** What is known of events whose step is over: it stays so as long as the charts do. */
function settledOf({ fold, charts }: WhyView): Settled {
  const there = bySituation.get(fold);
  if (there !== undefined && there.charts === charts) return there.settled;
  const settled: Settled = new Map();
  bySituation.set(fold, { charts, settled });
  return settled;
}

const WHY: Readonly<Partial<Record<StimulusOutcome['kind'], string>>> = {
  refused: 'no candidate held',
  'no-way': 'no transition for it',
};
