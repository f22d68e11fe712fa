import type { RunCharts } from '../../inspection/wire.ts';
import type { CoveredItem } from './chart-to-cover.ts';

export const REPORT_VERSION = 1;

/** What the page of coverage carries: all that it shows. */
export interface CoverageReport extends RunCharts {
  readonly version: typeof REPORT_VERSION;
  /** What was covered, and when: as it is to stand in the page. */
  readonly title: string;
  /** A machine each, by the id of its chart. */
  readonly machines: readonly { readonly machine: string; readonly items: readonly Omit<CoveredItem, 'isTold'>[] }[];
  /** Null where the page has the drawings of these charts itself. */
  readonly layout: ReportedLayout | null;
}

/** How the page is to draw the charts: the drawings by the ids of the charts, or why there are none, or not all. */
export interface ReportedLayout {
  readonly drawings: unknown;
  readonly problem: string | null;
}
