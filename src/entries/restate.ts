export type { WorkflowStatus } from '../integrations/restate/chain-status.ts';
export {
  createRestateActor,
  type RestateActorOptions,
  type RestateActorStatus,
} from '../integrations/restate/create-restate-actor.ts';
export {
  createRestateChain,
  type RestateChain,
  type RestateChainOptions,
  type RestateOptions,
} from '../integrations/restate/create-restate-chain.ts';
export type { RestateRunOptions } from '../integrations/restate/run-request.ts';
export type { JournalPage, JournalRequest, Sent, SentEvent } from '../integrations/restate/workflow-handlers.ts';
