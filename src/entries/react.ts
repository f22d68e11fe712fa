/** A client of the server: runs and durable actors as React state. Requires the package `react`. */
export type { RunServer } from '../react/connection.ts';
export {
  type ApprovalReply,
  type RemoteActor,
  type RemoteEvent,
  type RemoteSnapshot,
  type RemoteState,
  remoteActor,
  startActor,
} from '../react/remote-actor.ts';
export {
  answerEvent,
  followRun,
  type NewRun,
  type ReplyTo,
  type RunState,
  sendToRun,
  startRun,
} from '../react/run-client.ts';
export { type UseDurableActorResult, useDurableActor } from '../react/use-durable-actor.ts';
export { type UseRunResult, useRun } from '../react/use-run.ts';
export { HttpError } from '../server/http-error.ts';
export type { RunView } from '../server/run-view.ts';
export type { Question } from '../server/updates.ts';
