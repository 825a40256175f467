/* The agreement on the next membership, as a model for SPIN.
 *
 * Written from the rules of the protocol, without the program, which its own tests explore; so
 * an error of one is not an error of the other. The property: no two different memberships are
 * ever certified for one version, a certificate being votes of a majority with the same ballot
 * and the same value.
 *
 *     spin -a -DVOTERS=2 -DBALLOTS=3 -DLOST=0 register.pml
 *     gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000
 *
 * | macro | is |
 * |---|---|
 * | VOTERS, BALLOTS | how many; ballots are for each version |
 * | VERSIONS | 1, or 2: the first decision says who decides on the second |
 * | LOST | the machine that may lose its disk, once, at any time |
 * | SWAP | 1: the second value of version 1 makes machine VOTERS a voter in place of machine 0; otherwise it lists the new storage of machine 0 |
 * | REACH | 1: claims that nothing is certified for the last version; 2: nor is it with a vote of the machine that the second value lets in. False, or the model says nothing |
 * | OWN_VALUE, VOTE_NOT_ON_DISK, PROMISE_NOT_ON_DISK, LOST_DISK_VOTES, NO_BALLOT | flaws |
 *
 * What is abstracted:
 * - Messages are a set that only grows: each may be lost, repeated and overtaken. What a machine
 *   would answer once more is there already. Who sends or signs is not in doubt.
 * - A ballot is its place in the order of all. Whoever first uses one owns it, so every order of
 *   rounds and proposers is covered. A machine with a new storage owns none of the former one.
 * - There are two values. Rename one certified value to 1 and all others to 2: each step remains
 *   one. A voter that is free to choose takes either.
 * - Writing and sending are one step: a crash between them is a message that is lost.
 * - Proposers never give up but by a restart, and any voter may campaign at any time; when they
 *   do is no part of safety. There are no rejections, wishes or offers, for they decide nothing.
 * - The last version is not adopted: who does so falls silent there.
 * - Nothing here is about recovery by key, a disk that is put back, or an end being reached.
 */

#ifndef VOTERS
#define VOTERS 2
#endif
#ifndef BALLOTS
#define BALLOTS 3
#endif
#ifndef VERSIONS
#define VERSIONS 1
#endif
#ifndef SWAP
#define SWAP 0
#endif
#ifndef REACH
#define REACH 0
#endif

#define MACHINES (VOTERS + SWAP)
#define MAJORITY (VOTERS / 2 + 1)
/* The machine that the second value lets vote in version 2: by its place, or its new storage. */
#define NEW (SWAP -> VOTERS : 0)

/* What has been said of one version; ballots count from 1. */
typedef Slot {
    byte owner[BALLOTS + 1];                /* 0: nobody campaigns; else machine and storage, so Prepare is sent */
    byte promise[(BALLOTS + 1) * MACHINES]; /* by ballot and machine: the set of acceptances told, as bits */
    byte accept[BALLOTS + 1];               /* by ballot: the set of values asked for */
    byte accepted[(BALLOTS + 1) * 3];       /* by ballot and value: the set of machines */
    byte certified                          /* the set of values */
}
Slot slot[VERSIONS];

typedef Vote { byte version; byte promised; byte ballot; byte value }
Vote memory[MACHINES];
Vote disk[MACHINES];
bit storage[MACHINES];     /* 1: a new one, after a loss */
byte campaign[MACHINES];   /* in memory only: the ballot for which promises are collected */

/* Of the step that is being taken; 0 between steps. */
byte me, b, a, v;
hidden byte i, n, all;

#define mine memory[me]
#define here slot[mine.version]
#define LEAST (mine.promised == 0 -> 1 : mine.promised)
#define PROMISE promise[b * MACHINES + me]
/* An acceptance as a bit: none, or a lower ballot with one of two values. */
#define TOLD(ballot, value) (1 << (ballot == 0 -> 0 : 2 * ballot + value - 2))
#define TOLD_UP_TO(ballot) ((1 << (2 * ballot + 1)) - 1)

/* Does the roster of `me` list the storage of `me` as a voter's? */
#define SECOND (mine.version == 1 && slot[0].certified == 2)
#define IS_VOTER (SECOND && SWAP -> me != 0 : me < VOTERS)
#define LISTED_STORAGE (SECOND && !SWAP && me == 0)
#ifdef LOST_DISK_VOTES
#define MAY_VOTE (IS_VOTER)
#else
#define MAY_VOTE (IS_VOTER && storage[me] == LISTED_STORAGE)
#endif

inline copy(from, to) {
    to.version = from.version;
    to.promised = from.promised;
    to.ballot = from.ballot;
    to.value = from.value
}

inline keep_promise() {
#ifndef PROMISE_NOT_ON_DISK
    copy(memory[me], disk[me])
#else
    skip
#endif
}

inline keep_vote() {
#ifndef VOTE_NOT_ON_DISK
    copy(memory[me], disk[me])
#else
    skip
#endif
}

/* Counts the machines of a set. */
inline count(set) {
    n = 0;
    for (i : 0 .. MACHINES - 1) { n = n + ((set >> i) & 1) }
}

/* Counts the machines that have promised `b` and told of no ballot above `a`. */
inline count_promises() {
    n = 0;
    for (i : 0 .. MACHINES - 1) {
        n = n + ((here.promise[b * MACHINES + i] & TOLD_UP_TO(a)) != 0)
    }
}

/* Is a majority of votes for `v` there now, and is it the only value? */
inline certify() {
#ifdef NO_BALLOT
    all = 0;
    for (i : 1 .. BALLOTS) { all = all | here.accepted[i * 3 + v] }
#else
    all = here.accepted[b * 3 + v];
#endif
    count(all);
    if
    :: n >= MAJORITY ->
        here.certified = here.certified | v;
        assert(here.certified != 3);
        assert(REACH != 1 || mine.version < VERSIONS - 1);
        assert(REACH != 2 || mine.version < VERSIONS - 1 || !SECOND || !(all & (1 << NEW)))
    :: else
    fi
}

/* A voter begins with a ballot above all that it has promised: one that nobody has used, or one
 * of its own that it has forgotten. It promises it to itself. */
inline begin_campaign() {
    d_step {
        MAY_VOTE && b > mine.promised &&
            (here.owner[b] == 0 || here.owner[b] == 1 + me + MACHINES * storage[me]) ->
        here.owner[b] = 1 + me + MACHINES * storage[me];
        campaign[me] = b;
        mine.promised = b;
        keep_promise();
        here.PROMISE = here.PROMISE | TOLD(mine.ballot, mine.value)
    }
}

/* Prepare arrives. */
inline promise_ballot() {
    d_step {
        MAY_VOTE && here.owner[b] != 0 && b >= mine.promised && b > mine.ballot ->
        mine.promised = b;
        keep_promise();
        here.PROMISE = here.PROMISE | TOLD(mine.ballot, mine.value)
    }
}

/* Promises of a majority have arrived, and `a` is the highest ballot that they tell of, with
 * `v`: that is asked for, and a value of one's own if `a` is 0. Any majority may be first. */
inline ask() {
    d_step {
        MAY_VOTE && campaign[me] == b ->
        count_promises();
        all = 0;
        for (i : 0 .. MACHINES - 1) { all = all | here.promise[b * MACHINES + i] };
        if
#ifdef OWN_VALUE
        :: n >= MAJORITY && (all & TOLD(a, 1) || all & TOLD(a, 2)) ->
#else
        :: n >= MAJORITY && (all & TOLD(a, v)) ->
#endif
            here.accept[b] = here.accept[b] | v;
            campaign[me] = 0
        :: else
        fi
    }
}

/* Accept arrives. */
inline accept_value() {
    d_step {
        MAY_VOTE && (here.accept[b] & v) && b >= mine.promised &&
            !(mine.ballot == b && mine.value != v) ->
        mine.promised = b;
        mine.ballot = b;
        mine.value = v;
        keep_vote();
        here.accepted[b * 3 + v] = here.accepted[b * 3 + v] | (1 << me);
        certify()
    }
}

/* A certificate arrives: the next version, nothing promised, nothing accepted, in one write. */
inline adopt() {
    d_step {
        mine.version < VERSIONS - 1 && here.certified != 0 ->
        mine.version++;
        mine.promised = 0; mine.ballot = 0; mine.value = 0;
        campaign[me] = 0;
        copy(memory[me], disk[me])
    }
}

inline restart() {
    d_step { campaign[me] = 0; copy(disk[me], memory[me]) }
}

/* All is gone, version 1 comes from files. */
inline lose_disk() {
    d_step {
        storage[me] == 0 ->
        storage[me] = 1;
        disk[me].version = 0; disk[me].promised = 0; disk[me].ballot = 0; disk[me].value = 0;
        campaign[me] = 0;
        copy(disk[me], memory[me])
    }
}

init {
    do
    :: atomic { select(me : 0 .. MACHINES - 1); select(b : LEAST .. BALLOTS);
        if :: begin_campaign() :: promise_ballot() :: else fi; me = 0; b = 0 }
    :: atomic { select(me : 0 .. MACHINES - 1); b = campaign[me];
        if :: b != 0 -> select(a : 0 .. b - 1); select(v : 1 .. 2); ask() :: else fi;
        me = 0; b = 0; a = 0; v = 0 }
    :: atomic { select(me : 0 .. MACHINES - 1); select(b : LEAST .. BALLOTS); select(v : 1 .. 2);
        if :: accept_value() :: else fi; me = 0; b = 0; v = 0 }
    :: atomic { select(me : 0 .. MACHINES - 1); if :: adopt() :: restart() fi; me = 0 }
#ifdef LOST
    :: atomic { me = LOST; if :: lose_disk() :: else fi; me = 0 }
#endif
    od
}
