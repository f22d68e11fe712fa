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
      { text: '- name: x', heading: [], startLine: 2 },
      { text: '- id: 1\n- text: a\nb', heading: ['parts', '1'], lines: [4, 4, 4] },
      { text: '- id: 2', heading: ['parts', '2'], startLine: 5 },
      { text: '- last: null', heading: [], startLine: 7 },
    ]);
  });

  it('reads a single value and throws for invalid JSON', () => {
    expect(atOnce(readJson('"hello"'))).toMatchObject([{ text: 'hello', startLine: 1 }]);
    expect(() => atOnce(readJson('{"a": '))).toThrow(SyntaxError);
  });
});
