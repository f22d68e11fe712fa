/** The language server: checks the XState machine of each open module while people type, with the PostChain of their project. */

import {
  type CodeLens,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  ProposedFeatures,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import {
  type EditedModule,
  type Finding,
  installedCli,
  NotChecked,
  type Place,
  pathOf,
  runTool,
} from './machine-tool.ts';
import { placeOfState, sourceKeys } from './source-keys.ts';

/** How long to wait after the last keystroke. */
const PAUSE_MS = 400;
const SOURCE = 'PostChain';

interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  readonly lenses: readonly CodeLens[];
}

const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const running = new Map<string, AbortController>();
const checked = new Map<string, Checked>();
const NOTHING: Checked = { diagnostics: [], lenses: [] };
let hasSaidMissing = false;

connection.onInitialize(() => ({
  capabilities: { textDocumentSync: TextDocumentSyncKind.Incremental, codeLensProvider: {} },
  serverInfo: { name: SOURCE },
}));

documents.onDidChangeContent(({ document }) => {
  stop(document.uri);
  const controller = new AbortController();
  running.set(document.uri, controller);
  const timer = setTimeout(() => void check(document.uri, controller.signal), PAUSE_MS);
  controller.signal.addEventListener('abort', () => clearTimeout(timer));
});

documents.onDidClose(({ document: { uri } }) => {
  stop(uri);
  checked.delete(uri);
  void connection.sendDiagnostics({ uri, diagnostics: [] });
});

connection.onCodeLens(({ textDocument }) => [...(checked.get(textDocument.uri)?.lenses ?? [])]);

connection.onRequest('postchain/chart', async ({ uri }: { readonly uri: string }) => {
  const edited = editedModule(uri);
  return edited && runTool(edited.cli, 'diagram', edited, {}, AbortSignal.timeout(60_000));
});

connection.onRequest('postchain/runPath', async ({ uri, finding, exported }: { readonly uri: string } & Found) => {
  const edited = editedModule(uri);
  if (edited === null) return '';
  const steps = (finding.path ?? []).map(({ event }) => event);
  const given = { steps, ...(finding.input !== undefined && { start: finding.input }) };
  const run = await runTool(
    edited.cli,
    'simulate',
    { ...edited, ...(exported !== undefined && { exported }) },
    given,
    AbortSignal.timeout(60_000),
  );
  return [
    `${finding.property}: ${finding.what}`,
    '',
    `start → ${placeText(run.start)}`,
    ...run.steps.map((step) => `${step.event} → ${placeText(step)}`),
  ].join('\n');
});

connection.onShutdown(() => {
  for (const uri of running.keys()) stop(uri);
});

documents.listen(connection);
connection.listen();

function stop(uri: string): void {
  running.get(uri)?.abort();
  running.delete(uri);
}

const placeText = ({ state, context, error }: Place): string =>
  `${state}  ${JSON.stringify(context) ?? ''}${error === undefined ? '' : `  error: ${error}`}`;

function editedModule(uri: string) {
  const [path, text] = [pathOf(uri), documents.get(uri)?.getText() ?? ''];
  const cli = path === null || !text.includes('createMachine(') ? null : installedCli(path);
  if (path !== null && cli === null && text.includes('createMachine(') && !hasSaidMissing) {
    hasSaidMissing = true;
    connection.window.showInformationMessage(
      'PostChain is not installed in this project, so its machines are not checked. Run: npm install --save-dev postchain',
    );
  }
  return path === null || cli === null ? null : { path, text, cli };
}

async function check(uri: string, signal: AbortSignal): Promise<void> {
  const [edited, document] = [editedModule(uri), documents.get(uri)];
  if (document === undefined) return;
  const result = edited === null ? NOTHING : await resultOf(document, edited, signal);
  if (signal.aborted || result === null) return;
  checked.set(uri, result);
  await connection.sendDiagnostics({ uri, version: document.version, diagnostics: [...result.diagnostics] });
  connection.sendRequest('workspace/codeLens/refresh').catch(() => {});
}

/** Null if the text cannot be loaded: the editor shows errors of syntax itself, and the last findings stay. */
async function resultOf(
  document: TextDocument,
  edited: NonNullable<ReturnType<typeof editedModule>>,
  signal: AbortSignal,
): Promise<Checked | null> {
  try {
    const keys = sourceKeys(edited.text);
    return (await findingsIn(edited, signal))
      .map((found) => foundAt(document, keys, found))
      .reduce(
        (all, one) => ({
          diagnostics: [...all.diagnostics, ...one.diagnostics],
          lenses: [...all.lenses, ...one.lenses],
        }),
        NOTHING,
      );
  } catch (error) {
    if (!(error instanceof NotChecked) || signal.aborted) return null;
    if (/must export an XState machine/u.test(error.message)) return NOTHING;
    if (/Cannot load/u.test(error.message)) return null;
    const start = { line: 0, character: 0 };
    const diagnostic = {
      range: { start, end: start },
      severity: DiagnosticSeverity.Information,
      source: SOURCE,
      message: error.message,
    };
    return { diagnostics: [diagnostic], lenses: [] };
  }
}

interface Found {
  readonly finding: Finding;
  readonly exported?: string;
}

type Checkable = NonNullable<ReturnType<typeof editedModule>>;

/** What does not hold, of the machine of a module or of each of them. */
async function findingsIn(edited: Checkable, signal: AbortSignal): Promise<readonly Found[]> {
  const failedIn = async (one: EditedModule): Promise<readonly Finding[]> =>
    (await runTool(edited.cli, 'lint', one, {}, signal)).findings.filter(({ holds }) => !holds);
  try {
    return (await failedIn(edited)).map((finding) => ({ finding }));
  } catch (error) {
    const [, names = ''] = /exports \d+ machines; expected (.+)$/u.exec((error as Error).message) ?? [];
    if (names === '') throw error;
    const found: Found[] = [];
    for (const [, exported = ''] of names.matchAll(/#([^,]+)/gu))
      found.push(...(await failedIn({ ...edited, exported })).map((finding) => ({ finding, exported })));
    return found;
  }
}

/** A finding at each state that it names and that the text has; without one, where the machine is created. */
function foundAt(document: TextDocument, all: ReturnType<typeof sourceKeys>, { finding, exported }: Found) {
  const begins =
    exported === undefined ? 0 : document.getText().search(new RegExp(`\\b${escaped(exported)}\\s*=`, 'u'));
  const keys = all.filter((key) => key.at >= begins);
  const { property, what = '', at = [], path } = finding;
  const placeOf = (state: string): number | null => {
    const [, event = null] = new RegExp(`${escaped(state)}, (.+?)(?:,| →)`, 'u').exec(what) ?? [];
    return placeOfState(keys, state, event);
  };
  // A list has one part for each fault, of which the first state is the one that has it.
  const parts = what.split('; ').map((part) => at.find((state) => wordsOf(part).includes(state)) ?? '');
  const named = [...new Set([...parts.filter(Boolean).map(placeOf), ...at.slice(0, 1).map(placeOf)])].filter(
    (place) => place !== null,
  );
  const offsets = named.length > 0 ? named : [document.getText().indexOf('createMachine(', begins)];
  const ranges = offsets.map((offset) => {
    const [word = ''] = /^['"]?[\w$ .-]+['"]?/u.exec(document.getText().slice(offset)) ?? [];
    return { start: document.positionAt(offset), end: document.positionAt(offset + word.length) };
  });
  const after = path === undefined ? '' : `, after ${['start', ...path.map(({ event }) => event)].join(' → ')}`;
  const diagnostics: readonly Diagnostic[] = ranges.map((range) => ({
    range,
    severity: DiagnosticSeverity.Warning,
    source: SOURCE,
    code: property,
    message: `${what}${after}`,
  }));
  const command = {
    title: `Run the path to "${property}"`,
    command: 'postchain.runPath',
    arguments: [document.uri, finding, exported],
  };
  return { diagnostics, lenses: path === undefined ? [] : ranges.slice(0, 1).map((range) => ({ range, command })) };
}

const wordsOf = (text: string): readonly string[] =>
  (text.match(/[^\s"',;:{}]+/gu) ?? []).flatMap((word) => [word, word.slice(word.indexOf('.') + 1)]);

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
