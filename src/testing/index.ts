export { SimulatedClock } from 'xstate';
export {
  always,
  type Script,
  type ScriptEntry,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  scriptedModel,
} from '../models/scripted.ts';
export { replies } from './replies.ts';
export { settle } from './settle.ts';
export { type ToVitestOptions, toVitest } from './to-vitest.ts';
