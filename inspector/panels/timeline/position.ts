import { duration, preciseTime } from '../../fold/number-words.ts';
import { lastBegunBy } from '../../fold/sorted.ts';
import type { RunView } from '../../ui-state/inspector.ts';

/** Where the cursor stands, for the eye and for the ear. */
export function positionText({ fold, at, count }: RunView): string {
  const phase = phaseAt(fold.spans.phases, at);
  const place = phase === undefined ? [] : [`cycle ${phase.cycle}`, phase.phase];
  return [`entry ${at} / ${Math.max(0, count - 1)}`, preciseTime(fold.timeLine.atMs(at)), ...place].join(' · ');
}

export function positionSaid({ fold, at, count }: RunView): string {
  const phase = phaseAt(fold.spans.phases, at);
  const place = phase === undefined ? [] : [phase.phase, `cycle ${phase.cycle}`];
  return [`entry ${at} of ${count}`, duration(fold.timeLine.atMs(at)), ...place].join(', ');
}

/** The phase that is under way; between two of them none is. */
function phaseAt(phases: RunView['fold']['spans']['phases'], at: number) {
  const phase = lastBegunBy(phases, at);
  return phase !== undefined && (phase.to === null || phase.to >= at) ? phase : undefined;
}
