/** A run of a server as React state. Requires the package `react`. */
export { type FollowedRun, followRun } from '../react/follow-run.ts';
export { eventOf, type NewRun, type ReplyTo, type RunServer, sendToRun, startRun } from '../react/run-requests.ts';
export { type UsedRun, useRun } from '../react/use-run.ts';
export { HttpError } from '../server/http-error.ts';
export type { RunView } from '../server/run-view.ts';
export type { Question } from '../server/updates.ts';
