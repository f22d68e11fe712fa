import { existsSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import { shellWord } from '../../machines/text/quoting.ts';

interface ReadRequest {
  readonly request: string;
  readonly docs: readonly string[] | undefined;
}

/** Longer than any request that a chain accepts. */
const MAX_BYTES = 8_000_000;

interface Given {
  readonly docs?: readonly string[] | undefined;
  /** With files, the request may be empty. */
  readonly attach?: readonly string[] | undefined;
}

/**
 * Returns the request of a run and its documents. Without a request argument, it is the last value of `--docs` if that is a sentence and no
 * path, because `--docs` takes every argument after it; otherwise it is read from `input`, unless that is a terminal.
 *
 * @throws PostChainError `invalid_request`
 */
export async function readRequest(
  given: string | undefined,
  { docs, attach = [] }: Given,
  input: NodeJS.ReadStream = process.stdin,
): Promise<ReadRequest> {
  if (given !== undefined && given !== '-') {
    if (attach.length > 0 && existsSync(given)) throw fileAsRequest(given, attach);
    return { request: given, docs };
  }
  const last = docs?.at(-1);
  if (given === undefined && docs !== undefined && last !== undefined && !existsSync(last)) {
    if (docs.length > 1 && /\s/u.test(last.trim())) return { request: last, docs: docs.slice(0, -1) };
    const asked = /["$`\\]/u.test(last) ? shellWord(last) : `"${last}"`;
    const paths = docs.length > 1 ? docs.slice(0, -1) : ['docs'];
    throw new PostChainError(
      'invalid_request',
      `Missing request; ${JSON.stringify(last)} was read as a path of --docs, but does not exist. If it is the request, put it first: postchain run ${asked} --docs ${paths.map(shellWord).join(' ')}`,
    );
  }
  const piped = input.isTTY ? '' : await readAll(input);
  if (piped.trim() !== '' || attach.length > 0) return { request: piped.trim(), docs };
  throw new PostChainError(
    'invalid_request',
    'Missing request; type it after "run" or pipe it in: postchain run "What is a cycle?" --docs docs',
  );
}

function fileAsRequest(given: string, attach: readonly string[]): PostChainError {
  const flags = [...attach, given].map((path) => `--attach ${shellWord(path)}`).join(' ');
  return new PostChainError(
    'invalid_request',
    `Expected a request; received the file ${JSON.stringify(given)}. --attach takes one file; repeat it for more: ${flags}`,
  );
}

async function readAll(input: NodeJS.ReadStream): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input) {
    pieces.push(Buffer.from(piece));
    bytes += pieces.at(-1)?.length ?? 0;
    if (bytes > MAX_BYTES)
      throw new PostChainError(
        'invalid_request',
        `The request on standard input is longer than ${MAX_BYTES / 1e6} MB; pass long material with --docs`,
      );
  }
  return Buffer.concat(pieces).toString('utf8');
}
