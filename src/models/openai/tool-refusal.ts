import type { Failure } from '../../../machines/contracts/failure.ts';
import { REFUSING } from './dialect.ts';

const CHOICE = /tool[_ ]?choice|forces? tool use/iu;
const NO_CALL = /did not call|failed to call|tool_use_failed/iu;
const TOOLS = /\btools?\b|\btool_?calls?\b|function[- _]?call/iu;
const NOT_TAKEN =
  /n[o']t support|unsupported|unknown|unrecogni[sz]ed|not (allowed|permitted|enabled|implemented|available)/iu;
const NOT_SERVED = /no endpoints|requires? --|extra (inputs|fields)/iu;

/** Whether a refusal is about how a tool call was asked for. */
export function isAboutToolChoice(text: string): boolean {
  return CHOICE.test(text);
}

/** Whether the server took all and the model did not do it (Groq tells that as a refused request). */
export function isNoCall(text: string): boolean {
  return NO_CALL.test(text);
}

/** Whether a server says that it, or this model, takes no tools. */
export function refusesTools(text: string): boolean {
  return TOOLS.test(text) && (NOT_TAKEN.test(text) || NOT_SERVED.test(text)) && !NO_CALL.test(text);
}

/** The failure of a request for a tool call: one that no tool call can be had of says what can be done [A12]. */
export function toldOfTools(failure: Failure): Failure {
  const { status, message } = failure;
  const isRefusal = status !== null && (REFUSING.has(status) || status === 500);
  if (!isRefusal || failure.code === 'prompt_too_long' || !refusesTools(message)) return failure;
  const told = `this model seems to take no tool calls; replyForm: 'text' works everywhere (${message})`;
  return { ...failure, code: 'tools_unsupported', message: told, retryable: false, retryAfterMs: null };
}
