/** The error of a response that is larger than its limit; the rest of it is not read. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** Returns a body with the same bytes, which closes the connection and fails with `ResponseTooLarge` after `maxBytes`. */
export function boundedBody(body: ReadableStream<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  const source = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.read();
        if (done) {
          controller.close();
          return;
        }
        bytes += value.byteLength;
        if (bytes > maxBytes) {
          const tooLarge = new ResponseTooLarge(`a response of more than ${maxBytes.toLocaleString('en-US')} bytes`);
          source.cancel(tooLarge).catch(() => {});
          throw tooLarge;
        }
        controller.enqueue(value);
      },
      cancel: (reason) => source.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
