export { type ExportedPage, type ExportOptions, exportRun } from './export/export-run.ts';
export { type InspectionServer, inspectionServer } from './inspection-server.ts';
export type { InspectionOptions } from './options.ts';
export { type StatelyBridge, statelyBridge } from './stately/bridge.ts';
