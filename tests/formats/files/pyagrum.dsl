net small
{
// property softwar aGrUM 3.3.1

	node pump
	{
		TYPE = CPT;
		HEADER =
		{
			ID = pump;
			NAME = "pump";
		};
		PARENTS = ();
		DEFINITION =
		{
			NAMESTATES = (off, on);
			PROBABILITIES = (0.2252, 0.7748);
		};
	};

	node season
	{
		TYPE = CPT;
		HEADER =
		{
			ID = season;
			NAME = "season";
		};
		PARENTS = ();
		DEFINITION =
		{
			NAMESTATES = (dry, wet, cold);
			PROBABILITIES = (0.2289, 0.6807, 0.0904);
		};
	};

	node rain
	{
		TYPE = CPT;
		HEADER =
		{
			ID = rain;
			NAME = "rain";
		};
		PARENTS = (season);
		DEFINITION =
		{
			NAMESTATES = (no, yes);
			PROBABILITIES = (0.4394, 0.5606, 0.8654, 0.1346, 0.3463, 0.6537);
		};
	};

	node flood
	{
		TYPE = CPT;
		HEADER =
		{
			ID = flood;
			NAME = "flood";
		};
		PARENTS = (pump, season, rain);
		DEFINITION =
		{
			NAMESTATES = (none, low, high);
			PROBABILITIES = (0.3982, 0.3249, 0.2769, 0.015, 0.9687, 0.0163, 0.2087, 0.3382, 0.4531, 0.5078, 0.1871, 0.3051, 0.6057, 0.1969, 0.1974, 0.7271, 0.1151, 0.1578, 0.5031, 0.3683, 0.1286, 0.2412, 0.6449, 0.1139, 0.2301, 0.6353, 0.1346, 0.7925, 0.1478, 0.0597, 0.1392, 0.1129, 0.7479, 0.0054, 0.2788, 0.7158);
		};
	};

	node alert
	{
		TYPE = CPT;
		HEADER =
		{
			ID = alert;
			NAME = "alert";
		};
		PARENTS = (flood);
		DEFINITION =
		{
			NAMESTATES = (no, yes);
			PROBABILITIES = (0.1696, 0.8304, 0.0487, 0.9513, 0.5516, 0.4484);
		};
	};

};