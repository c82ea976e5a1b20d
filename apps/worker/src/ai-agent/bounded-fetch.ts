import { PermanentError } from "@millrace/worker-host";
import { type Dispatcher, Response, fetch as undiciFetch } from "undici";

/**
 * A `fetch` for a server that nobody vouches for: its answer ends after so many bytes, counted after decompression, and its redirects are not
 * followed, since what was asked would go along to wherever they lead.
 *
 * @returns a function that throws PermanentError `model_redirected`; the body it gives breaks off with PermanentError `answer_too_large`
 */
export function createBoundedFetch(dispatcher: Dispatcher, maxBytes: number): typeof fetch {
  const bounded = async (url: string, init: object): Promise<Response> => {
    const response = await undiciFetch(url, { ...init, dispatcher, redirect: "manual" });
    const { status, statusText, headers, body } = response;
    if (status >= 300 && status < 400) {
      await body?.cancel();
      throw new PermanentError(
        `The model's server answered with a redirect (${status}), which is not followed. Set AI_BASE_URL to where it leads.`,
        { code: "model_redirected" },
      );
    }
    return body ? new Response(body.pipeThrough(byteLimit(maxBytes)), { status, statusText, headers }) : response;
  };
  // undici's own fetch is Node's, with types of its own.
  return bounded as unknown as typeof fetch;
}

function byteLimit(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      // What throws here also ends the connection.
      if (bytes > maxBytes) throw answerTooLarge(`${maxBytes} bytes`);
      controller.enqueue(chunk);
    },
  });
}

export function answerTooLarge(limit: string): PermanentError {
  return new PermanentError(`The model's server answered with more than ${limit}, and was cut off.`, {
    code: "answer_too_large",
  });
}
