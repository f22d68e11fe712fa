export { type ExportedPage, type ExportOptions, exportRun } from './export-run.ts';
export { type InspectionOptions, type InspectionServer, inspectionServer } from './inspection-server.ts';
export type { ActionOptions, RunActions } from './run-actions.ts';
export { type StatelyBridge, statelyBridge } from './stately/bridge.ts';
export type { NeedsTrust } from './wire.ts';
