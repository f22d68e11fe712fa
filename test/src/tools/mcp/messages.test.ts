import { expect, it } from 'vitest';
import { repaired } from '../../../../src/tools/mcp/messages.ts';
import { loadSdk } from '../../../../src/tools/mcp/sdk.ts';

const sdk = await loadSdk();
const text = { type: 'text', text: 'a' };
const unreadable = (type = '') => ({ type: 'text', text: `[unreadable content${type}]` });

it.each<[string, object, object]>([
  [
    'an error that is null',
    { id: 1, result: { content: [text] }, error: null },
    { id: 1, result: { content: [text] } },
  ],
  ['an error without an id', { error: { code: 1, message: 'a' } }, { id: 7, error: { code: 1, message: 'a' } }],
  [
    'an unknown part',
    { id: 1, result: { content: [text, { type: 'map', at: 1 }] } },
    { id: 1, result: { content: [text, unreadable(', map')] } },
  ],
  [
    'the text of an unknown part',
    { id: 1, result: { content: [{ type: 'markdown', text: 'b' }] } },
    { id: 1, result: { content: [{ type: 'text', text: 'b' }] } },
  ],
  [
    'an invalid part',
    { id: 1, result: { content: [{ type: 'image' }, null, 5, 'c'] } },
    { id: 1, result: { content: [unreadable(', image'), unreadable(), unreadable(), { type: 'text', text: 'c' }] } },
  ],
  [
    'members that are null',
    { id: 1, result: { content: null, structuredContent: { a: 1 }, isError: null, _meta: null } },
    { id: 1, result: { content: [], structuredContent: { a: 1 } } },
  ],
  [
    'a failure with an unknown part',
    { id: 1, result: { content: [{ type: 'map' }], isError: true } },
    { id: 1, result: { content: [unreadable(', map')], isError: true } },
  ],
])('reads what is known of a message: %s', (_, message, expected) => {
  expect(JSON.parse(repaired(sdk, JSON.stringify(message), 7))).toEqual(expected);
});

it.each([
  '{"id":1,"result":{}}',
  '{"id":1,"result":{"content":"a"}}',
  '{"method":"ping","id":null}',
  'Hello',
  '[]',
  'null',
])('leaves %s as it is', (message) => {
  expect(repaired(sdk, message, 7)).toBe(message);
});
