import { runProgram } from './program.mjs';

export default {
  fetch: async (request) => Response.json(await runProgram(new URL(request.url).searchParams.get('server'))),
};
