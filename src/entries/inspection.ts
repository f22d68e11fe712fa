export { type ExportOptions, exportRun } from '../inspection/export-run.ts';
export type { ExportedPage } from '../inspection/exported-page.ts';
export { type InspectionOptions, type InspectionServer, inspectionServer } from '../inspection/inspection-server.ts';
export type { ActionOptions, RunActions } from '../inspection/run-actions.ts';
export { type InspectTo, inspectTo } from '../inspection/systems/inspect-to.ts';
export type { InspectedMachine } from '../inspection/systems/inspected-machine.ts';
export type { Inspect } from '../inspection/systems/observe-for-inspector.ts';
export type { ReplayHost } from '../inspection/systems/recorded-states.ts';
export type { NeedsTrust } from '../inspection/wire.ts';
