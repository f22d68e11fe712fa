import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/documents/read-json.ts';
import { readText } from '../../../src/documents/read-text.ts';
import { atOnce } from '../../../src/internal/async.ts';

describe('reading plain text', () => {
  it('returns paragraphs, lists with their introduction, and code', () => {
    expect(atOnce(readText('\nOne\ntwo.\n\nTo do:\n- a\n- b\n\nif (x) {\n  y();\n}\n'))).toMatchObject([
      { kind: 'prose', text: 'One\ntwo.', startLine: 2, endLine: 3 },
      { kind: 'list', text: 'To do:\n- a\n- b', startLine: 5, endLine: 7 },
      { kind: 'code', startLine: 9, endLine: 11 },
    ]);
  });
});

describe('reading JSON', () => {
  it('returns the values of an object as one block, under the keys above', () => {
    const json =
      '{\n  "name": "x",\n  "parts": [\n    { "id": 1, "text": "a\\nb" },\n    { "id": 2 }\n  ],\n  "last": null\n}';
    expect(atOnce(readJson(json))).toMatchObject([
      { text: '- name: x\n- last: null', heading: [], lines: [2, 7] },
      { text: '- id: 1\n- text: a\nb', heading: ['parts', '1'], lines: [4, 4, 4] },
      { text: '- id: 2', heading: ['parts', '2'], startLine: 5 },
    ]);
  });

  it('reads a single value and throws for invalid JSON', () => {
    expect(atOnce(readJson('"hello"'))).toMatchObject([{ text: 'hello', startLine: 1 }]);
    expect(() => atOnce(readJson('{"a": '))).toThrow(SyntaxError);
  });

  it('keeps a record together, and names it above what is too large to be within it', () => {
    const orders = [{ id: 1 }, { id: 2 }];
    const people = [
      { name: 'Ana', address: { city: 'Bergen' }, phone: '111' },
      { id: 7, name: 'Ben', tags: ['a', 'b'], orders, phone: '222' },
    ];
    expect(atOnce(readJson(JSON.stringify({ people })))).toMatchObject([
      { heading: ['people', '1'], text: '- name: Ana\n- address:\n  - city: Bergen\n- phone: 111' },
      { heading: ['people', '2'], text: '- id: 7\n- name: Ben\n- tags:\n  - a\n  - b\n- phone: 222' },
      { heading: ['people', '2', 'name: Ben', 'orders', '1'], text: '- id: 1' },
      { heading: ['people', '2', 'name: Ben', 'orders', '2'], text: '- id: 2' },
    ]);
  });

  it('reads JSON Lines, one record per line', () => {
    expect(atOnce(readJson('{"name":"Ana"}\n\n{"name":"Ben"}\n'))).toMatchObject([
      { heading: ['1'], text: '- name: Ana', startLine: 1 },
      { heading: ['2'], text: '- name: Ben', startLine: 3 },
    ]);
  });
});
