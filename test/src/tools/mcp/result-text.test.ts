import type { CallToolResult } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { resultText } from '../../../../src/tools/mcp/tools.ts';

const text = (said: string) => ({ type: 'text' as const, text: said });
const base64 = Buffer.alloc(1_000).toString('base64');
const uri = 'file:///a';

it.each<[string, CallToolResult, string]>([
  ['several texts, joined', { content: [text('one'), text('two\n')] }, 'one\ntwo\n'],
  ['no content as empty text', { content: [] }, ''],
  ['structured content as JSON if there is no text', { content: [], structuredContent: { a: [1] } }, '{"a":[1]}'],
  ['text instead of structured content', { content: [text('a is 1')], structuredContent: { a: 1 } }, 'a is 1'],
  [
    'a description of an image and of audio',
    {
      content: [
        { type: 'image', mimeType: 'image/png', data: base64 },
        { type: 'audio', mimeType: 'audio/wav', data: '' },
      ],
    },
    '[image, image/png, 1000 bytes]\n[audio, audio/wav, 0 bytes]',
  ],
  [
    'an embedded text',
    { content: [{ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Hello' } }] },
    '[resource, file:///a, text/plain]\nHello',
  ],
  [
    'a description of an embedded file',
    { content: [{ type: 'resource', resource: { uri, blob: base64 } }] },
    '[resource, file:///a, 1000 bytes]',
  ],
  [
    'a description of a link',
    { content: [{ type: 'resource_link', name: 'A', uri: uri.repeat(99), size: 7 }] },
    `[link to a resource, A, ${uri.repeat(99).slice(0, 199)}…, 7 bytes]`,
  ],
])('converts a tool result to text: %s', (_, result, expected) => {
  expect(resultText(result)).toBe(expected);
});
