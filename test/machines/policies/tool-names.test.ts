import { expect, test } from 'vitest';
import { toolNamed } from '../../../machines/policies/tool-names.ts';

const TOOLS = ['get_weather', 'getTime', 'delete-file', 'delete_file', 'functions'];

test.each([
  ['get_weather', 'get_weather'],
  ['functions.get_weather', 'get_weather'],
  ['default_api.getTime', 'getTime'],
  ['tools/get-weather', 'get_weather'],
  [' Get Weather ', 'get_weather'],
  ['`gettime()`', 'getTime'],
  ['GET_TIME', 'getTime'],
  ['functions', 'functions'],
  // Two tools are alike, or none is.
  ['Delete File', 'Delete File'],
  ['weather', 'weather'],
  ['get_weathers', 'get_weathers'],
  ['', ''],
])('the tool that a model means by %j is %j', (written, name) => {
  expect(toolNamed(written, TOOLS)).toBe(name);
});
