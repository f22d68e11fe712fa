import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';

const LANGUAGES = ['typescript', 'javascript', 'typescriptreact', 'javascriptreact'];

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const module = context.asAbsolutePath('dist/server.mjs');
  const documentSelector = LANGUAGES.map((language) => ({ scheme: 'file', language }));
  const started = new LanguageClient(
    'postchain',
    'PostChain',
    { module, transport: TransportKind.ipc },
    { documentSelector },
  );
  client = started;
  const output = vscode.window.createOutputChannel('PostChain: path');
  const ask = <Result>(request: string, input: object) => started.sendRequest<Result>(`postchain/${request}`, input);
  const chart = new ChartPanel(context.extensionUri, (uri) => ask('chart', { uri }));
  context.subscriptions.push(
    output,
    chart,
    vscode.commands.registerCommand('postchain.showChart', () => chart.show()),
    vscode.commands.registerCommand('postchain.runPath', async (uri: string, finding: object, exported?: string) => {
      output.replace(await ask<string>('runPath', { uri, finding, exported }));
      output.show(true);
    }),
    // The findings of a document change when its text has been checked.
    vscode.languages.onDidChangeDiagnostics(() => void chart.draw()),
    vscode.window.onDidChangeActiveTextEditor(() => void chart.draw()),
  );
  await started.start();
}

export const deactivate = (): Promise<void> | undefined => client?.stop();

type ChartOf = (uri: string) => Promise<{ readonly machine: string; readonly mermaid: string } | null>;

/** The chart beside the editor: of the module that is edited, or the one before if that has no machine. */
class ChartPanel implements vscode.Disposable {
  #panel: vscode.WebviewPanel | undefined;
  #drawn = '';
  readonly #folder: vscode.Uri;
  readonly #chartOf: ChartOf;

  constructor(extension: vscode.Uri, chartOf: ChartOf) {
    this.#folder = vscode.Uri.joinPath(extension, 'dist');
    this.#chartOf = chartOf;
  }

  async show(): Promise<void> {
    if (this.#panel === undefined) {
      const column = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      const panel = vscode.window.createWebviewPanel('postchain.chart', 'Chart', column, {
        enableScripts: true,
        localResourceRoots: [this.#folder],
        retainContextWhenHidden: true,
      });
      panel.onDidDispose(() => {
        this.#panel = undefined;
      });
      panel.webview.html = chartPage(panel.webview, vscode.Uri.joinPath(this.#folder, 'chart.js'));
      this.#panel = panel;
      this.#drawn = '';
    }
    await this.draw();
  }

  async draw(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (this.#panel === undefined || document?.uri.scheme !== 'file' || !LANGUAGES.includes(document.languageId))
      return;
    // A text that cannot be loaded has no chart: the last one stays.
    const chart = await this.#chartOf(document.uri.toString()).catch(() => null);
    if (chart === null || this.#panel === undefined || chart.mermaid === this.#drawn) return;
    this.#drawn = chart.mermaid;
    this.#panel.title = `Chart of ${chart.machine}`;
    await this.#panel.webview.postMessage({ mermaid: chart.mermaid });
  }

  dispose(): void {
    this.#panel?.dispose();
  }
}

/** Mermaid writes its styles into the picture; nothing else may be loaded or executed. */
function chartPage(webview: Pick<vscode.Webview, 'asWebviewUri'>, script: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<title>Chart</title>
</head>
<body>
<main></main>
<script nonce="${nonce}" src="${webview.asWebviewUri(script)}"></script>
</body>
</html>`;
}
