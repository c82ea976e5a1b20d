export { countedPlace, listCursor, namedPlace } from "./list-cursor.ts";
export { cursorOf, ForeignCursorError, writeCursor } from "./page-cursor.ts";
