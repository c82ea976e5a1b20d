/** Members by rank, the lowest first, and those of one rank in the order in which they came. Any of them can leave. */
export interface RankedSet<Member extends object> {
  readonly size: number;
  /** One that is in already takes its new rank, behind the others that have it. */
  add(member: Member, rank: number): void;
  first(): Member | undefined;
  /** @returns the rank of `first`; Infinity when there is none */
  lowestRank(): number;
  delete(member: Member): void;
}

interface Place<Member> {
  readonly member: Member;
  readonly rank: number;
  readonly arrival: number;
  index: number;
}

/** A binary heap that knows where each member stands, so that one of a hundred thousand leaves as fast as the first. */
export function createRankedSet<Member extends object>(): RankedSet<Member> {
  const heap: Place<Member>[] = [];
  const places = new Map<Member, Place<Member>>();
  let arrivals = 0;

  function put(place: Place<Member>, index: number): void {
    heap[index] = place;
    place.index = index;
  }

  function rise(place: Place<Member>): void {
    let { index } = place;
    while (index > 0) {
      const above = heap[(index - 1) >> 1];
      if (!above || isBefore(above, place)) break;
      put(above, index);
      index = (index - 1) >> 1;
    }
    put(place, index);
  }

  function sink(place: Place<Member>): void {
    let { index } = place;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const below = left && right && isBefore(right, left) ? right : left;
      if (!below || isBefore(place, below)) break;
      const next = below.index;
      put(below, index);
      index = next;
    }
    put(place, index);
  }

  function remove(member: Member): void {
    const place = places.get(member);
    if (!place) return;
    places.delete(member);
    const last = heap.pop();
    if (!last || last === place) return;
    put(last, place.index);
    rise(last);
    sink(last);
  }

  return {
    get size() {
      return heap.length;
    },
    add: (member, rank) => {
      remove(member);
      const place = { member, rank, arrival: arrivals++, index: heap.length };
      places.set(member, place);
      rise(place);
    },
    first: () => heap[0]?.member,
    lowestRank: () => heap[0]?.rank ?? Number.POSITIVE_INFINITY,
    delete: remove,
  };
}

function isBefore(a: Place<unknown>, b: Place<unknown>): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.arrival < b.arrival);
}
