export { SimulatedClock } from 'xstate';
export { always, type Script, type ScriptEntry, type ScriptedModel, scriptedModel } from '../models/scripted.ts';
