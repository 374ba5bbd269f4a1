package scenarios

// NotPromised is where every contract ends, whatever its scenarios show.
var NotPromised = []string{
	"Your own receiver. What is shown here is shown of the reference receivers; another one has to " +
		"go through the same scenarios before any of it is said of it.",
	"Real traffic. The events are made up for the purpose; no provider's own deliveries were played.",
	"Speed. Times are results of tests and say nothing about throughput or latency. The pinned " +
		"server is there so that a run can be repeated, not as a recommendation.",
	"Other versions. A version of PostgreSQL is verified only where the scenarios were run on it, " +
		"and a run names its server.",
	"Durability beyond PostgreSQL's own. It is as good as the storage, the WAL settings and the " +
		"replication underneath.",
	"Power loss. Most scenarios run on a disposable server that trades durability for speed; those " +
		"that kill a server use a durable one, and kill a process, not a machine.",
	"Fail-over. What a standby has of the acknowledged events when its primary is lost is not shown.",
	"Retries after the rows are gone. Deleting what was accepted lets its copies in as new events: " +
		"keep it for longer than the sender retries, redeliveries by hand included.",
	"Rare failures of runs that nobody steers. Thirty clean runs bound the rate of failures below " +
		"9.5 % (at 95 % confidence) and no further. A stepped scenario is one order, an explored " +
		"situation the orders that it says were played.",
	"Other writers. A receiver is only as safe as everything else that writes its tables: a script " +
		"that ignores the guards breaks these promises from outside.",
	"Effects outside the database, but for the outbox. What a change does elsewhere, while its " +
		"transaction is open, is not undone with it and may be done again.",
}

var snapshotsDoNotPromise = []string{
	"Deltas. Each event has to carry the whole state of its object. Of changes such as \"add 10\" " +
		"this receiver would leave out whatever comes late: they need another one.",
	"An order that the sender does not give. Revisions have to grow within an object, and each " +
		"belongs to one event. Without them, and without a way to fetch the true state, no receiver " +
		"can make an order.",
	"That nothing is missing. A gap in the revisions holds nothing back: whether the missing event " +
		"ever comes is up to its sender.",
}

var emailsDoNotPromise = []string{
	"What happened last. The state is the highest rank that was reached: who bounced stays bounced, " +
		"even if a later attempt was delivered, until a correction voids the bounce.",
	"That an event is true. A wrong one counts until somebody voids it by name, with a reason.",
	"An end to waiting. An event whose message never becomes known is kept, and counts for nothing.",
}

var atomicDoesNotPromise = []string{
	"A retry of its own. A change that failed runs again when the sender delivers the event again, " +
		"and at no other time.",
	"Room for slow work. The change runs while the sender waits, with its locks taken, and copies " +
		"wait for it up to a bound: what takes long belongs to leased workers.",
	"Order. Each event is processed when it comes, whatever else happened to its object.",
}

var leasedDoesNotPromise = []string{
	"Order per object. Receipts are taken in the order in which they became due, and end in any.",
	"That a change is tried once. It may run again after a crash or a lost lease. What it did in " +
		"its transaction is committed once; what it did elsewhere can have happened at each attempt.",
	"A time. Acknowledged means stored, not processed: nothing goes on while no worker runs.",
	"That each event is processed. After its last attempt a receipt is dead, and waits for a person.",
}

var outboxDoesNotPromise = []string{
	"Sending once. A message is sent at least once, each time under the same key. The system that " +
		"gets it has to be idempotent: do each key once, and remember it for as long as it can come.",
	"Order, neither per topic nor per key.",
	"That each message arrives. After its last attempt it is dead, and waits for a person.",
}

var doorDoesNotPromise = []string{
	"What no signature covers. GitHub and Shopify sign the body, not the event id: a captured body " +
		"that is sent again under a fresh id is a new event. The view operator_same_body shows one " +
		"body under several ids; it prevents nothing.",
	"A secret that has leaked. Whoever has it is the sender.",
	"That a provider signs as it says. Signatures are checked with published and with made-up " +
		"vectors; how Postscale joins time and body is taken from its header and was not confirmed.",
	"What stands before it. A proxy or load balancer can answer in its place, and wrongly.",
}
