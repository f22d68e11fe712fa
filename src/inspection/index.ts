export { type InspectionServer, inspectionServer } from './inspection-server.ts';
export type { InspectionOptions } from './options.ts';
