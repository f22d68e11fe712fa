// A Model Context Protocol server by hand, over standard input and output, that misbehaves as its first argument says.
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [manner = 'plain'] = process.argv.slice(2);
const write = (text) => process.stdout.write(text);
const send = (message) => write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (said, more = {}) => ({ content: [{ type: 'text', text: said }], ...more });
const cancelled = [];
const refusals = [];

const object = { type: 'object' };
const loops = { type: 'string', pattern: '^(a+)+$' };
const bomb = Object.fromEntries(
  Array.from({ length: 40 }, (_, level) => [
    `d${level}`,
    { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${level + 1}` })) },
  ]),
);

const tools = [
  { name: 'pid', inputSchema: object, annotations: { readOnlyHint: true } },
  { name: 'huge', inputSchema: object, annotations: { readOnlyHint: false } },
  { name: 'flood', inputSchema: object },
  { name: 'die', inputSchema: object },
  { name: 'hang', inputSchema: object },
  { name: 'cancelled', inputSchema: object },
  { name: 'refusals', inputSchema: object },
  { name: 'fail', inputSchema: object },
  { name: 'broken', inputSchema: object },
  { name: 'garbage', inputSchema: object },
  { name: 'same', description: 'The first.', inputSchema: object },
  { name: 'same', description: 'The second.', inputSchema: object },
  { name: 'a b', inputSchema: object },
  { name: 'a_b', inputSchema: object },
  { name: '\u001b[31mred\n', description: '\u001b[2Jcleared\u202e', inputSchema: object },
  { name: 'x'.repeat(100), description: 'y'.repeat(5_000), inputSchema: object },
  { name: 'x'.repeat(101), inputSchema: object },
  { name: 'untyped', inputSchema: {} },
  { name: 'draft4', inputSchema: { ...object, $schema: 'http://json-schema.org/draft-04/schema#', required: ['x'] } },
  { name: 'remote', inputSchema: { ...object, properties: { a: { $ref: 'https://nowhere.invalid/a.json' } } } },
  { name: 'loops', inputSchema: { ...object, properties: { a: loops } } },
  { name: 'bomb', inputSchema: { ...object, $ref: '#/$defs/d0', $defs: { ...bomb, d40: object } } },
  { name: 5, inputSchema: object },
  { name: 'list', inputSchema: { type: 'array' } },
  { name: 'vast', inputSchema: { ...object, description: 'z'.repeat(60_000) } },
  { name: 'polluting', inputSchema: { ...object, properties: JSON.parse('{"__proto__":{"type":"string"}}') } },
  { name: 'task', inputSchema: object, execution: { taskSupport: 'required' } },
  null,
];

const doing = {
  pid: () => text(String(process.pid)),
  huge: (id) => {
    write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
    for (let megabytes = 0; megabytes < 100; megabytes += 1) write('h'.repeat(1_000_000));
    write('"}]}}\n');
  },
  flood: () => {
    process.on('SIGTERM', () => {});
    const piece = 'f'.repeat(1_000_000);
    const more = () => process.stdout.write(piece, more);
    more();
  },
  die: () => {
    process.stderr.write(`first\nout of memory\u001b[31m, key ${process.env.SECRET}\n`);
    process.exit(7);
  },
  hang: () => undefined,
  cancelled: () => text(JSON.stringify(cancelled)),
  refusals: () => text(JSON.stringify(refusals)),
  fail: () => text('no such file\n\u001b[31mred', { isError: true }),
  broken: () => ({ content: 'none' }),
  garbage: () => {
    write('not JSON\n{"jsonrpc":"2.0"}\n[]\nnull\n"text"\n{"jsonrpc":"2.0","id":999,"result":{}}\n');
    return text('after garbage');
  },
  loops: () => text('the server looked'),
  bomb: () => text('the server looked'),
  draft4: () => text('the server looked'),
  remote: () => text('the server looked'),
};

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};

const answers = {
  initialize: ({ protocolVersion }) => {
    if (manner === 'modern') return { error: { code: -32601, message: 'no such method' } };
    if (manner === 'refusing') return { error: { code: -32603, message: 'not\ntoday' } };
    if (manner === 'misshapen') return { result: { hello: 1 } };
    const version = manner === 'ancient' ? '1999-01-01' : protocolVersion;
    const capabilities = manner === 'toolless' ? {} : { tools: {} };
    return { result: { protocolVersion: version, capabilities, serverInfo: { name: 'hostile', version: '1' } } };
  },
  'server/discover': () => ({ result: DISCOVERED }),
  'tools/list': ({ cursor }) => {
    if (manner === 'endless')
      return { result: { tools: [{ name: `t${cursor ?? ''}`, inputSchema: object }], nextCursor: `${cursor ?? ''}.` } };
    if (manner === 'paged' && cursor === undefined) return { result: { tools: tools.slice(0, 5), nextCursor: 'rest' } };
    const listed = manner === 'paged' ? tools.slice(5) : manner === 'modern' ? tools.slice(0, 5) : tools;
    return { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: listed } };
  },
  'tools/call': ({ name }, id) => {
    const result = doing[name]?.(id);
    return result && { result: { resultType: 'complete', ...result } };
  },
};

let isForgotten = false;

function hear({ id, method, params = {}, error }) {
  // Like a wrapper that restarted the actual server once.
  if (manner === 'forgetful' && method === 'tools/call' && !existsSync(process.env.ONCE)) {
    isForgotten = true;
    writeFileSync(process.env.ONCE, '');
  }
  if (isForgotten && id !== undefined) return send({ id, error: { code: -32602, message: process.env.SAID } });
  if (method === 'notifications/initialized')
    for (const asked of ['sampling/createMessage', 'elicitation/create', 'roots/list'])
      send({ id: asked, method: asked, params: {} });
  if (method === 'notifications/cancelled') cancelled.push(params.requestId !== undefined);
  if (error !== undefined) refusals.push([id, error.code]);
  const answer = id === undefined ? undefined : answers[method]?.(params, id);
  if (answer !== undefined) send({ id, ...answer });
}

if (manner === 'exiting') {
  process.stderr.write('cannot find my settings\n');
  process.exit(3);
}
if (manner === 'stubborn') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1_000);
}
// What it leaves behind holds its pipes.
if (manner === 'parent') spawn('sleep', ['30'], { stdio: 'inherit', detached: true }).unref();
if (manner === 'silent') setInterval(() => {}, 1_000);
else if (manner === 'babbling') setInterval(() => write('Welcome!\n'), 1);
else createInterface({ input: process.stdin }).on('line', (line) => hear(JSON.parse(line)));
