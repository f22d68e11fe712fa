/** Serves a chain and durable machines over HTTP, as a plain `fetch` handler. Requires the package `hono`. */
export type { MachineOptions } from '../server/actor-routes.ts';
export type { ActorState } from '../server/actor-states.ts';
export type { AgentOptions, AgentRequest } from '../server/agent-runs.ts';
export { createServer, type Server, type ServerLogLine, type ServerOptions } from '../server/create-server.ts';
export { type Authorize, bearerTokens, type Owner } from '../server/owners.ts';
export type { ChatData, ChatMetadata } from '../server/protocols/ai-sdk-chunks.ts';
export type { RunView } from '../server/run-view.ts';
export type { Question, RunUpdate } from '../server/updates.ts';
export type { ServerLimits } from '../server/usage-limits.ts';
