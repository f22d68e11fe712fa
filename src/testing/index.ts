export { SimulatedClock } from 'xstate';
export { type ToVitestOptions, toVitest } from '../journal/to-vitest.ts';
export {
  always,
  type Script,
  type ScriptEntry,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  scriptedModel,
} from '../models/scripted.ts';
export { actionChart } from './charts/action-chart.ts';
export { attemptChart } from './charts/attempt-chart.ts';
export { chainChart } from './charts/chain-chart.ts';
export { actionProperties, attemptProperties, chainProperties, soundness } from './charts/properties.ts';
export type { CoveredItem } from './coverage/chart-to-cover.ts';
export {
  type CoverageCollector,
  collectCoverage,
  type MachineCoverage,
} from './coverage/coverage.ts';
export { type CoveragePageOptions, coveragePage } from './coverage/coverage-page.ts';
export { coverageText } from './coverage/coverage-text.ts';
export { percentOf } from './coverage/kinds.ts';
export { missedThresholds, type Thresholds } from './coverage/thresholds.ts';
export { type ChartCoverageOptions, chartCoverage, reportCoverage } from './coverage/vitest-reporter.ts';
export type { Beginning, Exploration, ExploredEdge, ExploredState } from './exploration/exploration.ts';
export { type ExploreOptions, explore } from './exploration/explore.ts';
export type { ExploredChart } from './exploration/explored-chart.ts';
export type { Invariants } from './exploration/invariants.ts';
export type { Occurrence, Outcomes, OutcomesOf } from './exploration/occurrence.ts';
export { done, fails, type Outcome, sends } from './exploration/outcome.ts';
export { cover, type Path, pathThrough, pathTo } from './exploration/paths.ts';
export { type RunPathOptions, runPath } from './exploration/run-path.ts';
export { startWalk, type Walk, type WalkOptions, walkStep } from './exploration/walk.ts';
export { type KillReport, killReport, type MutantResult } from './mutation/kill-report.ts';
export { type Mutant, type MutantKind, mutantsOf } from './mutation/mutants.ts';
export { abstractionIsConsistent } from './properties/abstraction-is-consistent.ts';
export { alwaysEventually, type EventuallyOptions } from './properties/always-eventually.ts';
export { noDeadTransition, noUnreachableState, reachedItems } from './properties/chart.ts';
export { type MayIgnore, noIgnoredEvent } from './properties/ignored-events.ts';
export { describeFinding, type Finding, findingsOf, type Property, type Witness } from './properties/property.ts';
export { atMost, never, noDeadEnd, noUnhandledError } from './properties/states.ts';
export { replies } from './replies.ts';
export { settle } from './settle.ts';
export type { EvaluatedGuard, InstrumentedStep } from './structure/instrumented-machine.ts';
export { type CoverageItem, coverageItems } from './structure/items.ts';
