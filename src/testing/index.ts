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
export {
  type CoverageCollector,
  type CoveredItem,
  collectCoverage,
  type MachineCoverage,
} from './coverage/coverage.ts';
export { type CoveragePageOptions, coveragePage } from './coverage/coverage-page.ts';
export { percentOf } from './coverage/coverage-report.ts';
export { coverageText, missedThresholds, type Thresholds } from './coverage/coverage-text.ts';
export { type ChartCoverageOptions, chartCoverage, reportCoverage } from './coverage/vitest-reporter.ts';
export type { Exploration, ExploredEdge, ExploredState, StartState } from './exploration/exploration.ts';
export { type ExploredChart, type ExploreOptions, explore } from './exploration/explore.ts';
export {
  type ActorOutcomes,
  done,
  fails,
  type Occurrence,
  type Outcome,
  type Outcomes,
  sends,
} from './exploration/occurrences.ts';
export { cover, type Path, pathThrough, pathTo } from './exploration/paths.ts';
export { reachedItems } from './exploration/reached-items.ts';
export { type Invariants, type RunPathOptions, runPath } from './exploration/run-path.ts';
export { startWalk, type Walk, type WalkOptions, walkStep } from './exploration/walk.ts';
export { type KillReport, killReport, type Mutant, type MutantKind, type MutantResult, mutantsOf } from './mutants.ts';
export { abstractionIsConsistent } from './properties/abstraction-is-consistent.ts';
export { alwaysEventually, type EventuallyOptions } from './properties/always-eventually.ts';
export {
  atMost,
  describeFinding,
  type Finding,
  findingsOf,
  type MayIgnore,
  never,
  noDeadEnd,
  noDeadTransition,
  noIgnoredEvent,
  noUnhandledError,
  noUnreachableState,
  type Property,
  type Witness,
} from './properties/properties.ts';
export { replies } from './replies.ts';
export { settle } from './settle.ts';
export { type CoverageItem, coverageItems } from './structure/coverage-items.ts';
export type { EvaluatedGuard, InstrumentedStep } from './structure/instrumented-machine.ts';
