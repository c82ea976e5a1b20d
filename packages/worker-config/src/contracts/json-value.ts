import { z } from "zod";

/** Whatever JSON can hold. Under a name: a schema that refers to itself has no other way to stand in the documentation. */
export const jsonValue = z.json().register(z.globalRegistry, { id: "Json" });
