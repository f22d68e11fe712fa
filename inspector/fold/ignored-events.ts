import { countUpTo } from './sorted.ts';
import { isStimulus } from './stimuli.ts';
import { type StimulusOutcome, stimulusOutcome } from './stimulus-outcome.ts';
import { tellStimulus } from './told-stimulus.ts';
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
  const events = candidates.flatMap((seq) => {
    const entry = log.entry(seq);
    if (!isStimulus(entry)) return [];
    const outcome = stimulusOutcome(entry, known);
    const said = WHY[outcome.kind];
    return said === undefined ? [] : [{ seq, name: tellStimulus(entry, fold.spans).name, why: said }];
  });
  return { events, more: count > LOOKED_AT };
}

const WHY: Readonly<Partial<Record<StimulusOutcome['kind'], string>>> = {
  refused: 'no candidate held',
  'no-way': 'no way for it',
};
