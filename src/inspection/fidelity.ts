import type { RunStart } from '../../machines/contracts/journal.ts';
import { chartVersion } from '../engine/runtime/run.ts';

/** What the journal of a run leaves out, by what it begins with. */
export function fidelityOf({ chart, redacted, states }: RunStart): readonly string[] {
  return [
    ...(chart.digest === chartVersion().digest
      ? []
      : ['The chart has changed since it was recorded: what is drawn is the chart of now.']),
    ...(redacted ? ['Texts of it were replaced as they were written, and the pieces of replies left out.'] : []),
    ...(states ? [] : ['It keeps no states of the chart: what a state held at an entry is not known.']),
  ];
}
