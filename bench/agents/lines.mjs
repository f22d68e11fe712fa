import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** What runs an agent, and the state for an input, which only the benchmark needs. */
const RUNNING = /^(export const (stateOf|outputOf|run)\b|if \(process\.argv|const actor = createActor\()/u;
const SCRIPT = 'scriptedModel(';

/**
 * Counts the lines of a program: those with text, in its statements. Imports do not count, nor does the scripted model, what runs the agent,
 * and declarations that only these use.
 *
 * @param {string} code
 */
export function countLines(code) {
  const source = ts.createSourceFile('agent.ts', code, ts.ScriptTarget.Latest, true);
  const textOf = (/** @type {ts.Node} */ node) => node.getText(source);
  let counted = source.statements.filter((statement) => {
    const text = textOf(statement);
    const isScript = ts.isVariableStatement(statement) && text.includes(SCRIPT);
    return !ts.isImportDeclaration(statement) && !RUNNING.test(text) && !isScript;
  });
  for (let before = counted.length + 1; before > counted.length; ) {
    before = counted.length;
    counted = counted.filter((statement) => {
      const names = declaredIn(statement);
      const others = counted.filter((other) => other !== statement).map((other) => namesIn(other));
      return names.length === 0 || names.some((name) => others.some((used) => used.has(name)));
    });
  }
  const lines = counted.flatMap((statement) => textOf(statement).split('\n'));
  return lines.filter((line) => line.trim() !== '').length;
}

/** @param {URL} file */
export const linesOf = (file) => countLines(readFileSync(file, 'utf8'));

/** Returns the names that a statement declares for this file only. @param {ts.Statement} statement @returns {readonly string[]} */
function declaredIn(statement) {
  if (textStartsWithExport(statement)) return [];
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  if (ts.isTypeAliasDeclaration(statement) || ts.isInterfaceDeclaration(statement)) return [statement.name.text];
  return ts.isFunctionDeclaration(statement) && statement.name ? [statement.name.text] : [];
}

const textStartsWithExport = (/** @type {ts.Statement} */ statement) => statement.getText().startsWith('export ');

/** @param {ts.Node} node @param {Set<string>} [names] @returns {Set<string>} */
function namesIn(node, names = new Set()) {
  if (ts.isIdentifier(node)) names.add(node.text);
  ts.forEachChild(node, (child) => void namesIn(child, names));
  return names;
}
