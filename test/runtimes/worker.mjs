import { runProgram } from './program.mjs';
import { serveRequests } from './served.mjs';

export default {
  async fetch(request) {
    const result = await runProgram(new URL(request.url).searchParams.get('server'));
    return Response.json({ ...result, served: await serveRequests() });
  },
};
