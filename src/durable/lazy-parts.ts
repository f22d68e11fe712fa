/** Rarely used code, loaded on first use. With several files, bundlers would split the initial code into more and larger chunks. */
export { deriveSystem } from './derived-system.ts';
export { enqueueActor } from './enqueue.ts';
export { withoutMissingVersions } from './machine-versions.ts';
export { HostMail } from './mail.ts';
export { migratedSystem } from './migrate.ts';
export { postEvent } from './post-event.ts';
export { appendAlone, notRepairable, repairAll, repairedSystem } from './repair.ts';
export { recordedStep, replyOf } from './reply.ts';
export { withOwnChildren } from './run-child.ts';
