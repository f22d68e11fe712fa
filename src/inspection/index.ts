export { type ExportedPage, type ExportOptions, exportRun } from './export-run.ts';
export { type InspectionOptions, type InspectionServer, inspectionServer } from './inspection-server.ts';
export { type StatelyBridge, statelyBridge } from './stately/bridge.ts';
