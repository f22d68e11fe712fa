import { type Dialect, isUnknown } from './dialect.ts';
import { isAboutToolChoice, isNoCall, refusesTools } from './tool-refusal.ts';

const ABOUT_STRICT = /\bstrict\b|invalid schema|invalid_function_parameters|additional_?properties|not permitted/iu;
const ABOUT_TOOLS = /\btools?\b|\btool_?(calls?|use|choice)\b|\bfunctions?\b|function[- _]?call/iu;

/** What a refused request was. */
interface Refused {
  /** What was said of it. */
  readonly text: string;
  readonly namesParam: boolean;
  /** Whether it offered tools beside the reply, and not in words. */
  readonly isOffering: boolean;
}

/** Whether a refusal is about tools, in a request that could do without. */
export function isAboutTools(text: string): boolean {
  return ABOUT_TOOLS.test(text);
}

/** The next humbler way to offer tools beside a reply in text: with less of a schema, then in words. */
export function humblerOffers(dialect: Dialect, text: string): Dialect {
  const isPlainNext = dialect.offers === 'strict' && ABOUT_STRICT.test(text);
  return { ...dialect, offers: isPlainNext ? 'plain' : 'words' };
}

/**
 * The next humbler way to ask for a tool call: with less of a choice, then with less of a schema, then with the tools that are offered
 * beside it told in words. Never without the tool.
 */
export function humblerTool(dialect: Dialect, { text, namesParam, isOffering }: Refused): Dialect | null {
  if (isNoCall(text)) return null;
  const inWords: Dialect | null = isOffering ? { ...dialect, offers: 'words' } : null;
  const lessChoice = isOffering ? lessOfAny(dialect) : lessOfOne(dialect);
  if (isAboutToolChoice(text)) return lessChoice ?? inWords;
  if (ABOUT_STRICT.test(text)) {
    if (isOffering && dialect.offers === 'strict') return { ...dialect, offers: 'plain' };
    if (dialect.strictTool) return { ...dialect, strictTool: false };
    if (inWords !== null) return inWords;
  }
  if (namesParam || refusesTools(text) || !isUnknown(text)) return null;
  if (inWords !== null) return inWords;
  if (dialect.strictTool) return { ...dialect, strictTool: false };
  return lessChoice ?? (dialect.usage ? { ...dialect, usage: false } : null);
}

const LESS = { named: 'required', required: 'auto', auto: 'unsaid', unsaid: null } as const;

function lessOfOne(dialect: Dialect): Dialect | null {
  const toolChoice = LESS[dialect.toolChoice];
  return toolChoice === null ? null : { ...dialect, toolChoice };
}

function lessOfAny(dialect: Dialect): Dialect | null {
  const anyChoice = LESS[dialect.anyChoice];
  return anyChoice === null ? null : { ...dialect, anyChoice };
}
