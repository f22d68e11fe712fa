import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const TYPES = resolve('dist/types');
const ENTRIES = resolve(TYPES, 'src/entries');
/** A longer declaration is the inferred type of a chart or of a large schema. Only its digest is listed. */
const MAX_LINES = 250;

const entries = readdirSync(ENTRIES);
const program = ts.createProgram(
  entries.map((name) => resolve(ENTRIES, name)),
  {
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    noLib: true,
    types: [],
  },
);
const checker = program.getTypeChecker();
const printer = ts.createPrinter({ removeComments: true });

const targetOf = (symbol: ts.Symbol): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

/** The statements of the package that declare a symbol; none if a library does. */
const statementsOf = ({ declarations = [] }: ts.Symbol): readonly ts.Node[] =>
  declarations
    .filter((declared) => declared.getSourceFile().fileName.startsWith(TYPES))
    .map((declared) => (ts.isVariableDeclaration(declared) ? declared.parent.parent : declared))
    .filter((statement) => ts.isSourceFile(statement.parent));

/** The symbols that the declaration of a symbol refers to. */
function referencesOf(symbol: ts.Symbol): readonly ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (node: ts.Node): void => {
    const used = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    if (used !== undefined) found.push(targetOf(used));
    ts.forEachChild(node, visit);
  };
  statementsOf(symbol).forEach(visit);
  return found;
}

function declarationOf(symbol: ts.Symbol): string {
  const text = statementsOf(symbol)
    .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile()))
    .join('\n');
  const [first, ...rest] = text.split('\n');
  if (rest.length < MAX_LINES) return text;
  return `${first} … // ${rest.length} more lines, ${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}

const report = (name: string, declarations: readonly string[]): string =>
  `# ${name}\n\n\`\`\`ts\n${[...declarations].sort().join('\n')}\n\`\`\`\n`;

const hint = 'Review the change of the public API, then accept it with: npm run api';

const exported = new Map(
  entries.map((entry) => {
    const file = program.getSourceFile(resolve(ENTRIES, entry)) as ts.SourceFile;
    const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file) as ts.Symbol);
    return [entry.replace(/(?:\.d)?\.ts$/u, ''), symbols] as const;
  }),
);

it.each([...exported])('%s exports what api/ lists', async (entry, symbols) => {
  const name = entry === 'index' ? 'postchain' : `postchain/${entry}`;
  const declarations = symbols.map((symbol) => {
    const target = targetOf(symbol);
    const renamed = target.name === symbol.name ? '' : ` // exported as ${symbol.name}`;
    return `${declarationOf(target) || `export { ${target.name} }; // of another package`}${renamed}`;
  });
  expect(declarations).not.toEqual([]);
  await expect(report(name, declarations)).toMatchFileSnapshot(`../api/${entry}.md`, hint);
});

it('the exported types refer to the types that api/ lists', async () => {
  const known = new Set([...exported.values()].flat().map(targetOf));
  const count = known.size;
  for (const symbol of known)
    for (const used of referencesOf(symbol)) if (statementsOf(used).length > 0) known.add(used);
  const declarations = [...known].slice(count).map(declarationOf);
  await expect(report('Used by exported types', declarations)).toMatchFileSnapshot('../api/used.md', hint);
});

/** The optional packages without which an entry point does nothing. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  mcp: ['@modelcontextprotocol/client', '@modelcontextprotocol/server'],
  otel: ['@opentelemetry/api'],
  restate: ['@restatedev/restate-sdk'],
  server: ['hono'],
};

/** Returns the optional packages whose types the declarations of an entry point import. */
function optionalImports(entry: string): readonly string[] {
  const files = new Set([resolve(ENTRIES, entry)]);
  const packages = new Set<string>();
  for (const file of files)
    for (const { fileName: name } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles)
      if (name.startsWith('.')) files.add(resolve(dirname(file), name).replace(/(?:\.d)?\.ts$/u, '.d.ts'));
      else packages.add(name.replace(/^(@[^/]+\/[^/]+|[^/]+).*$/u, '$1'));
  return [...packages].filter((name) => name in manifest.peerDependenciesMeta).sort();
}

it.each(entries)('the types of %s need no optional package of another entry point', (entry) => {
  const name = entry.replace(/(?:\.d)?\.ts$/u, '');
  expect(optionalImports(entry).filter((used) => !OWN[name]?.includes(used))).toEqual([]);
});
