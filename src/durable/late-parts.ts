/** What few programs use, loaded on use. In one file: with several, bundlers split what programs load at the start into more and larger parts. */
export { deriveSystem } from './derived-system.ts';
export { withoutGone } from './machine-versions.ts';
export { migratedSystem } from './migrate.ts';
export { recordedStep, replyOf } from './reply.ts';
