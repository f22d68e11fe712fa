import { type Dialect, isUnknown } from './dialect.ts';
import { isAboutToolChoice, isNoCall, refusesTools } from './tool-refusal.ts';

const ABOUT_STRICT = /\bstrict\b|invalid schema|invalid_function_parameters|additional_?properties|not permitted/iu;

/** The next humbler way to ask for a tool call: with less of a choice, then with less of a schema. Never without the tool. */
export function humblerTool(dialect: Dialect, text: string, isAboutParam: boolean): Dialect | null {
  if (isNoCall(text)) return null;
  const toolChoice = humblerChoice(dialect.toolChoice);
  const lessChoice = toolChoice === null ? null : { ...dialect, toolChoice };
  if (isAboutToolChoice(text)) return lessChoice;
  if (dialect.strictTool && ABOUT_STRICT.test(text)) return { ...dialect, strictTool: false };
  if (isAboutParam || refusesTools(text) || !isUnknown(text)) return null;
  if (dialect.strictTool) return { ...dialect, strictTool: false };
  return lessChoice ?? (dialect.usage ? { ...dialect, usage: false } : null);
}

function humblerChoice(choice: Dialect['toolChoice']): Dialect['toolChoice'] | null {
  switch (choice) {
    case 'named':
      return 'required';
    case 'required':
      return 'auto';
    case 'auto':
      return 'unsaid';
    case 'unsaid':
      return null;
    default: {
      const never: never = choice;
      return never;
    }
  }
}
